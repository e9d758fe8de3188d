# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets; V=1 shows the commands; MODE=release|asan|tsan and CC=clang each have their own folder.
# One area alone, untouched by the others: make unit LIB_DIRS="model/base model" SUITES="json opt" BUILD=build/mine

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

ifeq ($(origin CC),default)
CC := gcc
endif
MODE ?= release
CC_TAG := $(filter-out gcc cc,$(notdir $(lastword $(CC))))
BUILD ?= build/$(MODE)$(addprefix -,$(CC_TAG))
GEN := $(BUILD)/gen
BIN := $(if $(filter build/release,$(BUILD)),bin,$(BUILD)/bin)
PREFIX ?= /usr/local
VERSION := 0.1.0
FUZZ_SECONDS ?= 60
PACKAGES := gsl libcjson sqlite3 zlib

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

OPTIMIZE_release := -O2
OPTIMIZE_asan := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPTIMIZE_tsan := -O1 -fsanitize=thread
OPTIMIZE_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
ifndef OPTIMIZE_$(MODE)
$(error MODE=$(MODE): release, asan or tsan would be accepted)
endif
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla \
	-Wformat=2 $(if $(filter true,$(CI)),-Werror)
BASE_CFLAGS := -std=gnu11 -g $(OPTIMIZE_$(MODE)) -ffp-contract=off -D_GNU_SOURCE -I. -I$(GEN) $(WARNINGS)
# Asked once, and only when something is compiled: the Makefile parses without pkg-config or the libraries.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))$(PACKAGE_CFLAGS)
PACKAGE_LIBS = $(shell pkg-config --libs $(PACKAGES))
LINK = $(CC) $(OPTIMIZE_$(MODE)) $(LDFLAGS)

# ---- sources
LIB_DIRS ?= model/base model sim sim/policy sim/study sim/cli traces
MAIN := $(wildcard sim/cli/main.c)
LIB_SRCS := $(filter-out $(MAIN),$(foreach dir,$(LIB_DIRS),$(sort $(wildcard $(dir)/*.c))))
POLICIES := $(sort $(patsubst sim/policy/%.c,%,$(wildcard sim/policy/*.c)))
SUITES ?= $(sort $(patsubst tests/unit/check_%.c,%,$(wildcard tests/unit/check_*.c)))
FUZZERS := $(sort $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c)))
UNIT_SRCS := $(filter-out tests/unit/check_%.c,$(sort $(wildcard tests/unit/*.c))) $(SUITES:%=tests/unit/check_%.c)
BENCH_SRCS := $(sort $(wildcard tests/bench/*.c))
HEADERS := $(sort $(wildcard $(LIB_DIRS:%=%/*.h) probe/*.h probe/*/*.h tests/unit/*.h))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_OBJS := $(call objects,$(LIB_SRCS))
ALL_OBJS := $(LIB_OBJS) $(call objects,$(MAIN) $(UNIT_SRCS) $(BENCH_SRCS) $(wildcard tests/fuzz/*.c tests/simgrid/*.c tests/*.c))
GENERATED := $(GEN)/policy_list.inc $(GEN)/suite_list.inc $(GEN)/config.h $(addprefix $(GEN)/,report_css.h report_js.h) \
	$(addprefix $(GEN)/completion_,sh.h bash.h zsh.h fish.h)
PROGRAMS := $(if $(MAIN),$(BIN)/dos)

-include probe/probe.mk

## all: dos, and dos-probe (with CUDA where nvcc is found)
.PHONY: all probe objects
all: $(PROGRAMS)
$(BIN)/dos: $(call objects,$(MAIN)) $(LIB_OBJS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm
## objects: compile everything in LIB_DIRS, link nothing
objects: $(LIB_OBJS)

$(BUILD)/%.o: %.c | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) $(PACKAGE_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
-include $(ALL_OBJS:.o=.d)
# Generated files change only when their contents do: a new policy recompiles itself and sim/policy.c.
.PHONY: FORCE
replace = >$@.tmp; if cmp -s $@.tmp $@; then rm -f $@.tmp; else mv $@.tmp $@; fi
$(GEN)/policy_list.inc: FORCE
	@mkdir -p $(@D); for name in $(POLICIES); do echo "POLICY($$name)"; done $(replace)
$(GEN)/suite_list.inc: FORCE
	@mkdir -p $(@D); for name in $(SUITES); do echo "SUITE($$name)"; done $(replace)
$(GEN)/config.h: FORCE
	@mkdir -p $(@D); printf '#define DOS_VERSION "%s"\n' $(VERSION) $(replace)

# A text as a C string, and the hash by which a page admits it: REPORT_CSS, REPORT_CSS_HASH.
embed = @mkdir -p $(@D); name=$$(echo $(basename $(@F)) | tr a-z A-Z); { \
	echo "\#define $${name}_HASH \"sha256-$$(sha256sum <$< | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | base64)\""; \
	echo "\#define $$name \\"; sed 's/[\\"]/\\&/g; s/.*/"&\\n" \\/' $<; echo; } >$@
$(GEN)/report_%.h: sim/study/report.%; $(embed)
$(GEN)/completion_%.h: sim/cli/completion.%; $(embed)
# ---- tests
CHECKS := unit cli replay simgrid check-headers check-layers check-equations
.PHONY: setup demo check $(CHECKS) golden asan tsan fuzz bench linear plots
## setup: check for the packages; install what is missing (as root, or where sudo asks nothing)
setup:
	@bash tests/setup.sh
## demo: build, then show what dos does in less than a minute
demo: setup
	$(Q)$(MAKE) --no-print-directory all
	$(Q)bash tests/demo.sh $(BIN)
## check: unit and CLI tests, fuzz corpus replay, check-headers, check-layers, check-equations
check: setup
	$(Q)$(MAKE) --no-print-directory --keep-going $(CHECKS)
## unit: unit tests (SUITES="json opt" for some of them)
unit: $(BUILD)/check_all
	$(call say,UNIT,"$(words $(SUITES)) suites")
	$(Q)$(BUILD)/check_all
$(BUILD)/check_all: $(call objects,$(UNIT_SRCS)) $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) $$(pkg-config --libs check) -lpthread -lm
## cli: command-line tests (CASES="a b" for some of them)
cli: $(PROGRAMS)
	$(call say,CLI,tests/cli)
	$(Q)bash tests/cli/run.sh $(abspath $(BIN)) $(CASES)
## golden: rewrite the expected outputs of the command-line tests (then read the diff)
golden: $(PROGRAMS)
	$(Q)bash tests/cli/run.sh --golden $(abspath $(BIN)) $(CASES)
## asan: check under address and undefined-behaviour sanitizers
asan tsan:
	$(Q)$(MAKE) --no-print-directory MODE=$@ check
## tsan: check under the thread sanitizer

# Without libFuzzer the same targets replay their corpus, as a test.
replay: $(FUZZERS:%=$(BUILD)/replay_%)
	$(if $(FUZZERS),$(call say,REPLAY,"$(FUZZERS)"))
	$(Q)$(foreach name,$(FUZZERS),$(BUILD)/replay_$(name) tests/fuzz/corpus/$(name) &&) true
$(BUILD)/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm
## fuzz: libFuzzer on every reader, FUZZ_SECONDS in all (clang)
fuzz:
	@command -v clang >/dev/null || { echo 'make fuzz needs clang (apt-get install clang)' >&2; exit 4; }
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang fuzz-run
.PHONY: fuzz-run
fuzz-run: $(FUZZERS:%=$(BUILD)/fuzz_%)
	$(Q)for name in $(FUZZERS); do mkdir -p $(BUILD)/corpus/$$name; $(BUILD)/fuzz_$$name -timeout=10 \
		-max_total_time=$$(($(FUZZ_SECONDS) / $(words $(FUZZERS)))) -artifact_prefix=$(BUILD)/ $(BUILD)/corpus/$$name \
		tests/fuzz/corpus/$$name >$(BUILD)/$$name.log 2>&1 || { tail -n 40 $(BUILD)/$$name.log; exit 1; }; \
		echo "fuzz $$name: $$(grep -o 'Done .*' $(BUILD)/$$name.log)"; done
$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm
## bench: events/s and trials/s, as JSON
bench: $(BUILD)/bench
	$(Q)$(BUILD)/bench
$(BUILD)/bench: $(call objects,$(BENCH_SRCS)) $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm
## simgrid: sharing against SimGrid, where libsimgrid-dev is installed (SIMGRID=bench: speed against it)
simgrid:
	$(Q)if [ $(MODE) != release ]; then echo 'simgrid: skipped, SimGrid does not run under sanitizers'; \
	elif ! pkg-config --exists simgrid || ! command -v $(CXX) >/dev/null; then \
		echo 'simgrid: skipped, not installed (apt-get install libsimgrid-dev g++)'; \
	else $(MAKE) --no-print-directory $(BUILD)/simgrid && $(BUILD)/simgrid $(SIMGRID); fi
$(BUILD)/simgrid: $(BUILD)/tests/simgrid/compare.o tests/simgrid/oracle.cpp tests/simgrid/oracle.h $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CXX) -std=c++17 $(OPTIMIZE_$(MODE)) -Wall -Wextra -I. -o $@ $(filter-out %.h,$^) $(PACKAGE_LIBS) -lsimgrid -lpthread -lm
-include tests/trust.mk
## plots: the figures of the documentation, into out/
plots: all
	$(Q)bash plots/render.sh $(BIN) out

## check-headers: every header compiles alone, twice in a row
check-headers: | $(GENERATED)
	$(call say,CHECK,"$(words $(HEADERS)) headers")
	$(Q)status=0; for header in $(HEADERS); do printf '#include "%s"\n#include "%s"\n' $$header $$header | \
		$(CC) $(BASE_CFLAGS) $(PACKAGE_CFLAGS) -Werror -fsyntax-only -x c - || { echo "$$header fails alone" >&2; status=1; }; \
		done; exit $$status
## check-layers: includes follow the layers of the design
check-layers:
	$(call say,CHECK,layers)
	$(Q)bash tests/check_layers.sh
## check-equations: equation numbers agree between MODEL.md, code and tests
check-equations:
	$(call say,CHECK,equations)
	$(Q)bash tests/check_equations.sh

# ---- keeping house
.PHONY: format install uninstall dist deb clean help
## format: clang-format all C files in place
format:
	$(Q)clang-format -i $(sort $(wildcard $(foreach dir,$(LIB_DIRS) probe probe/* tests/*,$(dir)/*.[ch])))
## install: into DESTDIR and PREFIX (/usr/local)
root := $(DESTDIR)$(PREFIX)
MANUALS := $(wildcard sim/cli/*.1 probe/*.1)
ZSH_FUNCTIONS ?= share/zsh/site-functions
COMPLETIONS := share/bash-completion/completions/dos $(ZSH_FUNCTIONS)/_dos share/fish/vendor_completions.d/dos.fish
OWN_FOLDERS := bin share/man/man1 share/dos share/doc/dos $(patsubst %/,%,$(dir $(COMPLETIONS)))
install: all
	$(Q)install -d $(addprefix $(root)/,$(OWN_FOLDERS))
	$(Q)install $(PROGRAMS) $(root)/bin
	$(Q)install -m 644 $(MANUALS) $(root)/share/man/man1
	$(Q)install -m 644 README.md LICENSE $(root)/share/doc/dos
	$(Q)tar -cf - --mode=u+rw,go+rX,go-w $(wildcard hwprofiles/*.json plots/*.gp) traces/recorded | tar -C $(root)/share/dos -xf - --no-same-owner
	$(Q)set -- bash zsh fish; for file in $(COMPLETIONS); do $(BIN)/dos completion $$1 -o $(root)/$$file; shift; done
## uninstall: what install wrote, and the folders that are empty then
uninstall:
	$(Q)rm -rf $(addprefix $(root)/,$(addprefix bin/,$(notdir $(PROGRAMS))) $(addprefix share/man/man1/,$(notdir $(MANUALS))) \
		share/dos share/doc/dos $(COMPLETIONS))
	$(Q)[ ! -d $(root) ] || (cd $(root) && mkdir -p $(OWN_FOLDERS) && rmdir -p --ignore-fail-on-non-empty $(OWN_FOLDERS))
PACKAGES_IN ?= build
## dist: dos-VERSION.tar.gz of the last commit into build/, the same bytes every time
dist:
	$(Q)mkdir -p $(PACKAGES_IN) && git archive --prefix=dos-$(VERSION)/ HEAD | gzip -9n >$(PACKAGES_IN)/dos-$(VERSION).tar.gz
## deb: a Debian package into build/
deb: all
	$(Q)bash tests/package/deb.sh $(VERSION) $(PACKAGES_IN) $(MAKE)
## clean: remove what was built
clean:
	$(Q)rm -rf build bin out
## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

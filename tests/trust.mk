# SPDX-License-Identifier: GPL-3.0-or-later
# Slower tests, run now and then. Included by the Makefile.

.PHONY: analyze coverage fit-starts memcheck power builds aarch64
## analyze: cppcheck, clang-tidy and gcc -fanalyzer, where installed
analyze: $(GENERATED)
	$(Q)bash tests/analyze.sh $(BUILD)
## coverage: lines that unit and CLI tests run, by folder; fails below 90 % of model/ or sim/ (gcov)
coverage:
	$(Q)rm -rf build/coverage
	$(Q)$(MAKE) --no-print-directory CC=gcc BUILD=build/coverage CFLAGS="-O0 --coverage" LDFLAGS=--coverage unit cli
	$(Q)bash tests/coverage.sh build/coverage
## fit-starts: how well dos fit predicts unseen strides and another model, from every shipped profile
fit-starts: $(PROGRAMS)
	$(Q)PATH=$(abspath $(BIN)):$$PATH bash tests/fit_starts.sh
## memcheck: the command-line tests under valgrind, where installed
memcheck: $(PROGRAMS)
	$(Q)bash tests/memcheck.sh $(BIN) $(CASES)
## power: databases as they may be after a loss of power, POINTS (100) of them (python3)
power: $(PROGRAMS)
	$(Q)bash tests/power_loss.sh $(BIN)/dos $(POINTS)
## linear: how time and memory grow with the number of subgroups
linear: $(BUILD)/linear
	$(Q)$(BUILD)/linear
$(BUILD)/linear: $(call objects,tests/linear.c tests/unit/plain_machine.c) $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm
## builds: gcc and clang with -O0, -O3 and -march=native: unit and CLI tests, equal results (BUILDS="gcc-O0 clang-native")
builds:
	$(Q)bash tests/builds.sh $(MAKE)
## aarch64: cross-compiled, unit and CLI tests under qemu-user, with packages that are unpacked below build/, not installed
aarch64:
	$(Q)bash tests/aarch64.sh build/aarch64 $(MAKE)
# Flows of the comparison with SimGrid for tests/peers.sh, built without it.
$(BUILD)/flows: $(call objects,tests/simgrid/compare.c tests/simgrid/absent.c) $(LIB_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(PACKAGE_LIBS) -lpthread -lm

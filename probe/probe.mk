# SPDX-License-Identifier: GPL-3.0-or-later
# dos-probe: needs a C compiler and make; CUDA where nvcc is found (NVCC=none to leave it out). Included by the Makefile.
# nvcc 11.8 compiles it too, with a host compiler that it knows: NVCC_PREPEND_FLAGS='-ccbin g++-11' in the environment.

, := ,
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null) none)
PROBE_CUDA := $(if $(filter none,$(NVCC)),,yes)
# The toolkit of that nvcc, links resolved.
PROBE_CUDA_HOME := $(if $(PROBE_CUDA),$(patsubst %/bin/nvcc,%,$(shell readlink -f $(NVCC) 2>/dev/null)))
PROBE_NVCC_FLAGS := -std=c++14 -O3 -I. -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
	-gencode arch=compute_90,code=compute_90

PROBE_MAIN := probe/dos_probe.c
PROBE_LIB_SRCS := $(filter-out $(PROBE_MAIN) probe/cuda_none.c probe/cuda_fake.c,$(sort $(wildcard probe/*.c)))
PROBE_BASE_SRCS := $(addprefix model/base/,arena.c csv.c err.c file_replace.c file_text.c jsonw.c latency.c latency_fit.c leftovers.c \
	maxmin.c opt.c opt_argv.c spec.c table.c units.c)
PROBE_CUDA_OBJS := $(patsubst %.cu,$(BUILD)/%.cu.o,$(sort $(wildcard probe/cuda/*.cu)))
PROBE_GPU_OBJS := $(if $(PROBE_CUDA),$(PROBE_CUDA_OBJS),$(BUILD)/probe/cuda_none.o)
PROBE_LIB_OBJS := $(call objects,$(filter-out probe/command_%.c,$(PROBE_LIB_SRCS)))
PROBE_OBJS := $(call objects,$(PROBE_MAIN) $(PROBE_LIB_SRCS) $(PROBE_BASE_SRCS))
# Partly static: what is left at run time is libc and, opened by the CUDA runtime, libcuda.
PROBE_CUDA_LIBS := $(if $(PROBE_CUDA),-L$(PROBE_CUDA_HOME)/lib64 -L$(PROBE_CUDA_HOME)/targets/x86_64-linux/lib -lcudart_static \
	-Wl$(,)-Bstatic -lstdc++ -Wl$(,)-Bdynamic -ldl -lrt)
PROBE_STATIC := $(if $(filter release,$(MODE)),-static-libgcc)

PROGRAMS += $(BIN)/dos-probe
## probe: dos-probe alone
probe: $(BIN)/dos-probe
$(BIN)/dos-probe: $(PROBE_OBJS) $(PROBE_GPU_OBJS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(PROBE_STATIC) -o $@ $^ $(PROBE_CUDA_LIBS) -lpthread -lm

$(BUILD)/probe/cuda/%.cu.o: probe/cuda/%.cu
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(PROBE_NVCC_FLAGS) -Xcompiler -Wall -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# Unit tests of the probe link its modules with a device made of host memory.
ifneq ($(filter probe_%,$(SUITES)),)
$(BUILD)/check_all: $(PROBE_LIB_OBJS) $(BUILD)/probe/cuda_fake.o
endif
-include $(PROBE_OBJS:.o=.d) $(PROBE_CUDA_OBJS:.o=.d) $(BUILD)/probe/cuda_none.d $(BUILD)/probe/cuda_fake.d

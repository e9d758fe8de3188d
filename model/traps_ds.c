/* SPDX-License-Identifier: GPL-3.0-or-later
 * Rules for DeepSpeed configurations. */
#include "model/traps.h"

#include <math.h>
#include <string.h>

struct rules {
	struct traps *traps;
	const struct config_file *file;
	const struct ds_config *ds;
	const struct traps_context *context;
	const struct workload *workload; /* partitioned as the file says; NULL: model or GPUs unknown */
	double gpus; /* 0: unknown */
};

static const char zero[] = "/zero_optimization";

static void add(
    const struct rules *r, bool is_warning, const char *id, const char *key, const char *finding, const char *better)
{
	traps_add(r->traps, (struct trap){is_warning, id, r->file->name, key, finding, better});
}

static bool is_offloaded(const struct ds_config *ds)
{
	return ds->optimizer_device != DS_DEVICE_NONE;
}

/* ---- keys */

static void check_unknown(const struct rules *r)
{
	for (size_t i = 0; i < r->ds->n_unknown; i++) {
		const struct ds_unknown *const unknown = &r->ds->unknown[i];
		add(r, true, "unknown-key", unknown->path, "DeepSpeed does not know this key",
		    unknown->nearest ? traps_text(r->traps, "\"%s\"?", unknown->nearest) : "remove it");
	}
}

static void check_legacy(const struct rules *r)
{
	const struct {
		const struct ds_value *value;
		const char *key, *better;
	} legacy[] = {
	    {&r->ds->legacy_optimizer, "/zero_optimization/cpu_offload", "\"offload_optimizer\": {\"device\": \"cpu\"}"},
	    {&r->ds->legacy_param, "/zero_optimization/cpu_offload_param", "\"offload_param\": {\"device\": \"cpu\"}"},
	    {&r->ds->legacy_params, "/zero_optimization/cpu_offload_params", "\"offload_param\": {\"device\": \"cpu\"}"},
	    {&r->ds->legacy_pin, "/zero_optimization/cpu_offload_use_pin_memory", "\"pin_memory\" in offload_optimizer"},
	};

	for (size_t i = 0; i < sizeof(legacy) / sizeof(legacy[0]); i++)
		if (legacy[i].value->is_given)
			add(r, false, "older-key", legacy[i].key, "deprecated", legacy[i].better);
}

/* ---- batch */

static void check_batch(const struct rules *r)
{
	double train, micro, accum;

	if (r->gpus > 0 && !ds_config_batch_sizes(&train, &micro, &accum, r->ds, r->gpus))
		add(r, true, "batch-sizes", "/train_batch_size",
		    train == 0 ? "neither train_batch_size nor train_micro_batch_size_per_gpu is given"
			       : traps_text(r->traps, "%.15g is not micro-batch %.6g x accumulation %.6g x %.0f GPUs",
				     train, micro, accum, r->gpus),
		    train == 0 || micro < 1 || accum < 1 || micro != floor(micro) || accum != floor(accum)
			? "sizes that divide"
			: traps_text(r->traps, "%.15g", micro * accum * r->gpus));
	if (r->ds->bf16.value == 1 && r->ds->fp16.value == 1)
		add(r, true, "two-precisions", "/fp16/enabled", "bf16 and fp16 are both enabled", "one of them");
}

/* ---- subgroups and ratio */

/* Subgroups of a rank with another target size. */
static size_t count_subgroups(const struct rules *r, double size)
{
	const struct batch batch = {.gpus = r->gpus, .subgroup_params = size};
	struct workload workload;
	struct arena arena = {0};
	struct err err = {0};
	const size_t n = workload_count(&workload, &r->workload->shape, &batch, &arena, &err) ? 0 : workload.n_subgroups;

	arena_release(&arena);
	return n;
}

static void check_subgroups(const struct rules *r)
{
	static const char key[] = "/zero_optimization/sub_group_size";
	const double size = r->ds->sub_group.value;
	char share[UNITS_TEXT_MAX];

	if (!is_offloaded(r->ds) && size >= 1e11)
		add(r, false, "one-subgroup", key,
		    traps_text(r->traps,
			"%.6g, of DeepSpeed's documentation, is one subgroup; it matters once the optimizer is offloaded",
			size),
		    "100000000");
	if (!is_offloaded(r->ds) || r->ds->stage.value != 3)
		return;
	if (r->workload && r->workload->n_subgroups == 1)
		add(r, true, "one-subgroup", key,
		    traps_text(r->traps,
			"%.6g%s is at least a rank's share of %s: one subgroup, nothing to interleave or to share", size,
			r->ds->sub_group.is_given ? "" : " (the default)",
			units_print(share, UNIT_PARAMS, r->workload->rank_params)),
		    traps_text(r->traps, "100000000 makes %zu subgroups", count_subgroups(r, 1e8)));
	else if (!r->workload && size >= 1e11)
		add(r, true, "one-subgroup", key,
		    traps_text(r->traps,
			"%.6g is more than any rank's share: one subgroup, nothing to interleave or to share", size),
		    "100000000");
	else if (!r->workload && !r->ds->sub_group.is_given)
		add(r, false, "subgroup-default", key, "absent: 1e9, often one subgroup a rank",
		    "100000000; --model and --gpus say more");
}

/* Ratio acts in whole subgroups: int(ratio n) of them stay on the host. */
static void check_ratio(const struct rules *r)
{
	static const char key[] = "/zero_optimization/offload_optimizer/ratio";
	const double ratio = r->ds->ratio.value;

	if (!is_offloaded(r->ds) || ratio >= 1)
		return;
	if (r->ds->stage.value != 3) {
		add(r, true, "ratio-without-stage-3", key, traps_text(r->traps, "%.6g acts only with stage 3", ratio),
		    "stage 3");
		return;
	}
	if (!r->workload) {
		add(r, false, "ratio-in-whole-subgroups", key, "acts in whole subgroups",
		    "--model and --gpus say which ratio results");
		return;
	}
	const size_t n = r->workload->n_subgroups, n_cpu = (size_t)(ratio * (double)n + 1e-9);
	double cpu_params = 0;
	for (size_t i = 0; i < n_cpu; i++)
		cpu_params += r->workload->subgroups[i].n_params;
	const double effective = cpu_params / r->workload->rank_params;
	const bool is_off = fabs(effective - ratio) > 0.02;
	add(r, is_off, "ratio-in-whole-subgroups", key,
	    traps_text(
		r->traps, "%.6g is %zu of %zu subgroups: %.4g of the parameters on the host", ratio, n_cpu, n, effective),
	    is_off ? "a smaller sub_group_size, or a ratio that subgroups can give" : NULL);
}

/* ---- the fork's stride */

static void check_fork(const struct rules *r)
{
	static const char key[] = "/zero_optimization/offload_optimizer/prefetch_optimizer_gap";
	const double stride = r->ds->fork_stride.value;

	if (r->ds->fork_prefetch.value != 1)
		return;
	if (stride < 2)
		add(r, true, "stride-below-2", key,
		    r->ds->fork_stride.is_given ? "the published code interleaves from 2 on" : "absent: no stride", "2");
	else if (r->workload && fmod((double)r->workload->n_subgroups, stride) == 0)
		add(r, true, "last-flush", key,
		    traps_text(r->traps, "divides the %zu subgroups: the published code never writes the last one back",
			r->workload->n_subgroups),
		    "another sub_group_size or stride");
}

/* ---- memory */

/* Host bytes of a parameter whose states are there: P, M, V, fp32 gradient, 16-bit copy, and what the allocators add. */
static double host_bytes_per_param(const struct hwprofile *hw)
{
	return 12 + 4 + 2 + hw->host_overhead_bytes_per_param;
}

static void check_memory(const struct rules *r)
{
	const struct hwprofile *const hw = r->context->hw;
	const double share = r->ds->stage.value == 3 ? r->ds->ratio.value : 1;
	char need[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX];

	if (!r->workload || !hw || r->ds->optimizer_device != DS_DEVICE_CPU)
		return;
	const double host_bytes = r->workload->n_params * share * host_bytes_per_param(hw) + hw->host_reserved_bytes;
	const double pinned_bytes = r->workload->n_params * share * 16;
	if (host_bytes > hw->host_memory_bytes)
		add(r, true, "host-memory-short", "/zero_optimization/offload_optimizer",
		    traps_text(r->traps, "the states need about %s of the node's %s",
			units_print(need, UNIT_BYTES, host_bytes), units_print(have, UNIT_BYTES, hw->host_memory_bytes)),
		    "a smaller ratio, more nodes, or more memory");
	else if (r->ds->pin.value == 1 && pinned_bytes > hw->pinned_max_bytes)
		add(r, true, "pinned-memory-short", "/zero_optimization/offload_optimizer/pin_memory",
		    traps_text(r->traps, "about %s would be pinned, %s may be", units_print(need, UNIT_BYTES, pinned_bytes),
			units_print(have, UNIT_BYTES, hw->pinned_max_bytes)),
		    "a smaller ratio, or a higher limit (ulimit -l)");
}

static void check_pin(const struct rules *r)
{
	static const char key[] = "/zero_optimization/offload_optimizer/pin_memory";

	if (is_offloaded(r->ds) && r->ds->pin.is_given && r->ds->pin.value == 0)
		add(r, true, "pageable-memory", key,
		    "false: host memory is pageable, copies run at a fraction of the link's rate", "true");
	else if (is_offloaded(r->ds) && !r->ds->pin.is_given && !r->ds->pin.is_auto)
		add(r, true, "pageable-memory", key, "absent: pageable in DeepSpeed before 0.19, and slow", "true");
}

/* ---- what goes together */

static void check_stage(const struct rules *r)
{
	const struct ds_config *const ds = r->ds;

	if (ds->stage.value == 0 && !ds->stage.is_auto && (is_offloaded(ds) || ds->param_device != DS_DEVICE_NONE))
		add(r, true, "offload-without-zero", "/zero_optimization/stage", "stage 0: nothing is offloaded", "3");
	else if (ds->param_device != DS_DEVICE_NONE && ds->stage.value != 3 && !ds->stage.is_auto)
		add(r, true, "offload-param-without-stage-3", "/zero_optimization/offload_param", "acts only with stage 3",
		    "stage 3");
	if (ds->param_device != DS_DEVICE_NONE && !is_offloaded(ds))
		add(r, true, "offload-param-alone", "/zero_optimization/offload_param",
		    "parameters leave the GPU while the optimizer states, six times as large, stay",
		    "offload_optimizer as well");
	if (ds_config_is_early_stage(ds) && ds->overlap_comm.value == 0 && !ds->overlap_comm.is_auto)
		add(r, false, "no-overlap", "/zero_optimization/overlap_comm",
		    "not set with stage 1 or 2: gradients are reduced in the way of backward; predictions have them beside it", "true");
	if (ds->stage.value == 3 && ds->overlap_comm.is_given && ds->overlap_comm.value == 0)
		add(r, true, "no-overlap", "/zero_optimization/overlap_comm",
		    "false: gradients are reduced after backward, not beside it", "true");
	if (ds->contiguous_gradients.is_given && ds->contiguous_gradients.value == 0)
		add(r, false, "gradients-scattered", "/zero_optimization/contiguous_gradients",
		    "false: more fragmentation in backward", "true");
	if (ds->wall_clock_breakdown.value == 1 || ds->memory_breakdown.value == 1)
		add(r, false, "breakdown",
		    ds->wall_clock_breakdown.value == 1 ? "/wall_clock_breakdown" : "/memory_breakdown",
		    "each report waits for the GPU: iterations take longer than without", "false, once measured");
}

static void check_modelled(const struct rules *r)
{
	struct err err = {0};
	const char *spec;

	if (ds_config_policy(&spec, r->ds, r->traps->arena, &err))
		add(r, false, "not-modelled", zero, traps_text(r->traps, "%s", err.text), NULL);
}

/* GPUs that the batch sizes imply when nobody says. */
static double gpus_of(const struct ds_config *ds, const struct traps_context *context)
{
	const double micro = ds->micro_batch.value, accum = ds->grad_accum.value > 0 ? ds->grad_accum.value : 1;

	if (context->gpus > 0)
		return context->gpus;
	if (ds->train_batch_size.value > 0 && micro > 0 && ds->grad_accum.is_given &&
	    fmod(ds->train_batch_size.value, micro * accum) == 0)
		return ds->train_batch_size.value / micro / accum;
	return 0;
}

int traps_find_ds(struct traps *traps, const struct config_file *file, const struct traps_context *context, struct err *err)
{
	static void (*const checks[])(const struct rules *r) = {check_unknown, check_legacy, check_batch, check_stage,
	    check_subgroups, check_ratio, check_fork, check_pin, check_memory, check_modelled};
	struct rules r = {
	    .traps = traps, .file = file, .ds = &file->ds, .context = context, .gpus = gpus_of(&file->ds, context)};
	const struct batch batch = {.gpus = r.gpus, .subgroup_params = fmax(file->ds.sub_group.value, 1)};
	struct workload *const workload = arena_alloc(traps->arena, 1, sizeof(*workload));

	if (context->shape && r.gpus > 0) {
		if (workload_count(workload, context->shape, &batch, traps->arena, err))
			return err->code;
		r.workload = workload;
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&r);
	return 0;
}

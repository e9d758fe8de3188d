/* SPDX-License-Identifier: GPL-3.0-or-later
 * The largest model that fits, over GPUs, memory of a GPU and memory of the host, for each policy. */
#include <math.h>
#include <string.h>

#include "model/split.h"
#include "sim/study/capacity.h"
#include "sim/study/parallel.h"
#include "sim/study/plot.h"

enum { POLICIES_MAX = 8, POINTS_MAX = 8 };
enum panel { PANEL_GPUS, PANEL_GPU_MEMORY, PANEL_HOST_MEMORY, PANELS };
static const double GiB = 1073741824.0;
static const double factors[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4}; /* of the profile's memory */

struct figure {
	const struct plot_source *source;
	const char *specs[POLICIES_MAX];
	size_t n_specs;
	double gpus[POINTS_MAX];
	size_t n_gpus;
	double params[PANELS][POINTS_MAX][POLICIES_MAX];
	struct err errs[PANELS * POINTS_MAX * POLICIES_MAX];
};

static size_t n_points(const struct figure *f, enum panel panel)
{
	return panel == PANEL_GPUS ? f->n_gpus : sizeof(factors) / sizeof(factors[0]);
}

/* What a point stands at: GPUs, or GiB. */
static double x_of(const struct figure *f, enum panel panel, size_t point)
{
	const struct hwprofile *const hw = f->source->trial.hw;

	if (panel == PANEL_GPUS)
		return f->gpus[point];
	return factors[point] * (panel == PANEL_GPU_MEMORY ? hw->gpu_memory_bytes : hw->host_memory_bytes) / GiB;
}

static void run_point(void *context, size_t item, size_t worker)
{
	struct figure *const f = context;
	const size_t spec = item % f->n_specs, point = item / f->n_specs % POINTS_MAX;
	const enum panel panel = (enum panel)(item / f->n_specs / POINTS_MAX);
	struct trial_input input = f->source->trial;
	struct hwprofile hw = *input.hw;
	struct arena arena = {0};
	struct capacity capacity;

	(void)worker;
	if (point >= n_points(f, panel))
		return;
	hw.gpu_memory_bytes *= panel == PANEL_GPU_MEMORY ? factors[point] : 1;
	hw.host_memory_bytes *= panel == PANEL_HOST_MEMORY ? factors[point] : 1;
	input.hw = &hw;
	input.shape = f->source->shapes[0];
	input.policy = f->specs[spec];
	input.batch.gpus = panel == PANEL_GPUS ? f->gpus[point] : input.batch.gpus;
	if (capacity_find(&capacity, &input, &arena, &f->errs[item]) == 0)
		f->params[panel][point][spec] = capacity.n_params;
	arena_release(&arena);
}

static int list_specs(struct figure *f, struct err *err)
{
	for (size_t i = 0; f->source->specs->n == 0 && policy_all[i] && f->n_specs < POLICIES_MAX; i++)
		f->specs[f->n_specs++] = policy_all[i]->name;
	if (f->source->specs->n > POLICIES_MAX)
		return err_set(err, STATUS_USAGE, "plot capacity: up to %d policies would be accepted", POLICIES_MAX);
	for (size_t i = 0; i < f->source->specs->n; i++)
		f->specs[f->n_specs++] = f->source->specs->items[i];
	return 0;
}

static void list_gpus(struct figure *f)
{
	const double most = f->source->trial.hw->gpus;

	for (double gpus = batch_tp(&f->source->trial.batch); gpus < most && f->n_gpus + 1 < POINTS_MAX; gpus *= 2)
		f->gpus[f->n_gpus++] = gpus;
	f->gpus[f->n_gpus++] = most;
}

static void write_panels(struct plot *plot, const struct figure *f)
{
	for (enum panel panel = PANEL_GPUS; panel < PANELS; panel++) {
		for (size_t point = 0; point < n_points(f, panel); point++) {
			double line[POLICIES_MAX + 1] = {x_of(f, panel, point)};
			for (size_t i = 0; i < f->n_specs; i++)
				line[1 + i] = f->params[panel][point][i] / 1e9;
			plot_line(plot, line, 1 + f->n_specs);
		}
		plot_end_block(plot);
	}
}

static const char *subtitle(const struct figure *f, struct arena *arena)
{
	const struct trial_input *const t = &f->source->trial;
	const struct batch batch = {.gpus = t->batch.gpus > 0 ? t->batch.gpus : t->hw->gpus, .nodes = t->batch.nodes};
	const char *const nodes = t->batch.nodes > 1 ? "; GPUs: of a node" : "";

	return arena_printf(arena, "%s with more or fewer layers on %s; %.0f x %.0f tokens, checkpointing %s; any options of the policy\n"
	    "middle and right with %s%s; upright line: the machine's; no allowance for fragmentation", f->source->shapes[0].name, t->hw->name,
	    t->batch.mbs > 0 ? t->batch.mbs : 1, t->batch.seq > 0 ? t->batch.seq : 2048, t->batch.has_checkpointing ? "on" : "off",
	    batch_gpus_text(&batch, arena), nodes);
}

int plot_capacity(struct plot *plot, const struct plot_source *source, struct err *err)
{
	struct figure *const f = arena_zalloc(plot->arena, 1, sizeof(*f));

	if (source->n_shapes > 1)
		return err_set(err, STATUS_USAGE, "plot capacity: one model would be accepted: the family that grows by its layers");
	if (source->trial.batch.n_subgroups > 0)
		return err_set(err, STATUS_USAGE, "plot capacity: --n-subgroups is an update alone; a model is needed");
	f->source = source;
	if (list_specs(f, err))
		return err->code;
	list_gpus(f);
	parallel_for(PANELS * POINTS_MAX * f->n_specs, parallel_processors(), run_point, f);
	for (size_t i = 0; i < PANELS * POINTS_MAX * f->n_specs; i++)
		if (f->errs[i].code) {
			*err = f->errs[i];
			return err->code;
		}
	write_panels(plot, f);
	plot_texts(plot, "label", f->specs, f->n_specs);
	plot_legend(plot, f->specs, f->n_specs, 0, 860);
	plot_number(plot, "gpu_gib", source->trial.hw->gpu_memory_bytes / GiB);
	plot_number(plot, "host_gib", source->trial.hw->host_memory_bytes / GiB);
	plot_heading(plot, "Largest model that fits", subtitle(f, plot->arena),
	    arena_printf(plot->arena, "Profile %s: %s", source->trial.hw->name, source->trial.hw->summary), source);
	return 0;
}

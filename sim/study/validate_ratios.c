/* SPDX-License-Identifier: GPL-3.0-or-later
 * The half of validate.h that compares rows with each other: speed-ups and sweeps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/split.h"
#include "sim/study/validate.h"

static const double loss_max_frac = 0.02; /* a chosen stride this close to the best counts as right */

bool prediction_same_setting(const struct prediction *a, const struct prediction *b)
{
	const struct row *const x = a->row, *const y = b->row;

	return strcmp(x->hw, y->hw) == 0 && strcmp(a->model, b->model) == 0 && x->batch.gpus == y->batch.gpus && x->batch.nodes == y->batch.nodes &&
	    batch_zero_stage(&x->batch) == batch_zero_stage(&y->batch) && batch_tp(&x->batch) == batch_tp(&y->batch) &&
	    x->batch.mbs == y->batch.mbs && x->batch.grad_accum == y->batch.grad_accum && x->batch.seq == y->batch.seq &&
	    x->batch.has_checkpointing == y->batch.has_checkpointing && x->batch.subgroup_params == y->batch.subgroup_params &&
	    x->batch.n_subgroups == y->batch.n_subgroups && x->threads == y->threads && x->heads == y->heads && x->vocab == y->vocab;
}

static bool is_policy(const struct prediction *p, const char *name)
{
	const size_t n = strlen(name);
	return strncmp(p->policy, name, n) == 0 && (p->policy[n] == '\0' || p->policy[n] == ':');
}

static bool is_usable(const struct prediction *p, enum quantity quantity)
{
	return !p->is_excluded && !isnan(p->row->measured[quantity]);
}

/* ---- speed-ups */

static const struct prediction *find_base(const struct validation *v, const struct prediction *p, enum quantity quantity)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const base = &v->predictions[i];
		if (is_usable(base, quantity) && is_policy(base, "zero3-offload") && !strstr(base->policy, "flush=async") &&
		    prediction_same_setting(base, p))
			return base;
	}
	return NULL;
}

size_t validate_speedups(struct speedup **speedups, const struct validation *v, enum quantity quantity, struct arena *arena)
{
	size_t n = 0;

	*speedups = arena_alloc(arena, v->n + 1, sizeof(**speedups));
	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		if (!is_usable(p, quantity) || !is_policy(p, "dos"))
			continue;
		const struct prediction *const base = find_base(v, p, quantity);
		if (!base)
			continue;
		const double measured = base->row->measured[quantity] / p->row->measured[quantity];
		const bool is_predicted = !base->reason && !p->reason;
		const double predicted = is_predicted ? base->predicted[quantity] / p->predicted[quantity] : NAN;
		(*speedups)[n++] = (struct speedup){base, p, quantity, measured, predicted, is_predicted ? fabs(predicted / measured - 1) : 1};
	}
	return n;
}

/* ---- sweeps */

/* A SPEC without the option that varies, and its value; false when it has none. */
struct point {
	const char *key, *family;
	double value;
};

static bool split_point(struct point *point, const struct prediction *p, struct arena *arena)
{
	static const char *const keys[] = {"stride", "fraction"};
	struct spec spec;
	struct err err;

	*point = (struct point){.key = NULL};
	if (p->reason || spec_parse(&spec, p->policy, arena, &err))
		return false;
	point->family = spec.name;
	for (size_t i = 0, n = 0; i < spec.n_pairs; i++) {
		const struct spec_pair *const pair = &spec.pairs[i];
		bool varies = false;
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (strcmp(pair->key, keys[k]) == 0) {
				point->key = keys[k];
				point->value = strtod(pair->value, NULL);
				varies = true;
			}
		if (!varies)
			point->family = arena_printf(arena, "%s%c%s=%s", point->family, n++ ? ',' : ':', pair->key, pair->value);
	}
	return point->key != NULL;
}

static void add_to_sweep(struct sweep *sweep, const struct prediction *p, double value, double best_s[2], double *picked_s)
{
	const double measured_s = p->row->measured[QUANTITY_UPDATE], predicted_s = p->predicted[QUANTITY_UPDATE];

	if (sweep->n == 0 || measured_s < best_s[0]) {
		best_s[0] = measured_s;
		sweep->best_measured = value;
	}
	if (sweep->n == 0 || predicted_s < best_s[1]) {
		best_s[1] = predicted_s;
		sweep->best_predicted = value;
		*picked_s = measured_s;
	}
	sweep->n++;
	sweep->n_in_fit += p->is_in_fit;
}

/* The sweep that starts with prediction `first`; marks its members. */
static void collect(struct sweep *sweep, const struct validation *v, const struct point *points, bool *is_taken, size_t first)
{
	const struct prediction *const start = &v->predictions[first];
	double best_s[2] = {0}, picked_s = 0;

	*sweep = (struct sweep){.hw = start->row->hw, .model = start->model, .family = points[first].family,
	    .key = points[first].key, .gpus = start->row->batch.gpus};
	for (size_t i = first; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		if (is_taken[i] || !points[i].key || strcmp(points[i].key, sweep->key) != 0 || strcmp(points[i].family, sweep->family) != 0 ||
		    !prediction_same_setting(start, p))
			continue;
		is_taken[i] = true;
		add_to_sweep(sweep, p, points[i].value, best_s, &picked_s);
	}
	sweep->loss_frac = picked_s / best_s[0] - 1;
	sweep->is_right = sweep->loss_frac <= loss_max_frac;
}

size_t validate_sweeps(struct sweep **sweeps, const struct validation *v, struct arena *arena)
{
	struct point *const points = arena_zalloc(arena, v->n + 1, sizeof(*points));
	bool *const is_taken = arena_zalloc(arena, v->n + 1, sizeof(*is_taken));
	size_t n = 0;

	*sweeps = arena_alloc(arena, v->n + 1, sizeof(**sweeps));
	for (size_t i = 0; i < v->n; i++)
		if (!is_usable(&v->predictions[i], QUANTITY_UPDATE) || !split_point(&points[i], &v->predictions[i], arena))
			points[i].key = NULL;
	for (size_t i = 0; i < v->n; i++) {
		if (is_taken[i] || !points[i].key)
			continue;
		collect(&(*sweeps)[n], v, points, is_taken, i);
		n += (*sweeps)[n].n >= 3;
	}
	return n;
}

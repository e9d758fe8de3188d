/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/discrepancy.h"

#include <math.h>
#include <string.h>

enum { ALL_QUANTITIES = (1u << QUANTITY_N) - 1 };

/* Machines with recorded runs, what their runs can be compared in, and what of that is evidence about other machines. */
static const struct source {
	const char *hw, *set;
	unsigned compared, evidence;
} sources[] = {
    {"h100-4x", "published", ALL_QUANTITIES, ALL_QUANTITIES},
    {"a100-4x", "published", ALL_QUANTITIES, ALL_QUANTITIES},
    {"a100-4x-unbound", "published-unbound", ALL_QUANTITIES, ALL_QUANTITIES},
    {"h200-vm", "h200", ALL_QUANTITIES & ~(1u << QUANTITY_GPU_PEAK), 1u << QUANTITY_UPDATE},
};
/* Other profiles of a machine above. */
static const struct {
	const char *hw, *of;
} aliases[] = {{"h200-probed", "h200-vm"}, {"h200-2x-probed", "h200-vm"}};

static double residual(const struct prediction *p, size_t quantity)
{
	return log(p->row->measured[quantity] / p->predicted[quantity]);
}

static bool is_usable(const struct prediction *p, const char *hw, size_t quantity)
{
	return strcmp(p->row->hw, hw) == 0 && !p->is_excluded && !p->is_in_fit && !p->reason && isfinite(residual(p, quantity));
}

/* Mean residual of the rows in the setting of row `first`, or NAN when an earlier row has it; *n rows. */
static double setting_mean(size_t *n, const struct validation *v, const char *hw, size_t quantity, size_t first)
{
	double sum = 0;

	*n = 0;
	for (size_t i = 0; i < v->n; i++) {
		const struct prediction *const p = &v->predictions[i];
		if (!is_usable(p, hw, quantity) || !prediction_same_setting(p, &v->predictions[first]))
			continue;
		if (i < first)
			return NAN;
		sum += residual(p, quantity);
		++*n;
	}
	return sum / (double)*n;
}

/* Sum of squares about the means of settings. */
static double own_squares(size_t *n_free, const struct validation *v, const char *hw, size_t quantity)
{
	double sum = 0;

	*n_free = 0;
	for (size_t first = 0; first < v->n; first++) {
		size_t n;
		const double mean = is_usable(&v->predictions[first], hw, quantity) ? setting_mean(&n, v, hw, quantity, first) : NAN;
		if (isnan(mean))
			continue;
		*n_free += n - 1;
		for (size_t i = first; i < v->n; i++) {
			const struct prediction *const p = &v->predictions[i];
			if (is_usable(p, hw, quantity) && prediction_same_setting(p, &v->predictions[first]))
				sum += pow(residual(p, quantity) - mean, 2);
		}
	}
	return sum;
}

void evidence_add(struct evidence *evidence, const struct validation *v, const char *hw, unsigned quantities, struct arena *arena)
{
	struct evidence_machine *const m = &evidence->machines[evidence->n++];

	*m = (struct evidence_machine){.hw = arena_strdup(arena, hw)};
	for (size_t q = 0; q < QUANTITY_N; q++) {
		if (!(quantities & (1u << q)))
			continue;
		for (size_t i = 0; i < v->n; i++)
			if (is_usable(&v->predictions[i], hw, q)) {
				m->square[q] += pow(residual(&v->predictions[i], q), 2);
				m->n[q]++;
			}
		m->square[q] = m->n[q] ? m->square[q] / (double)m->n[q] : 0;
		const double own = own_squares(&m->n_own[q], v, hw, q);
		m->own_square[q] = m->n_own[q] ? own / (double)m->n_own[q] : 0;
	}
}

int evidence_load(struct evidence *evidence, const struct sharing *sharing, enum sync sync, struct arena *arena, struct err *err)
{
	const struct opt_list all = {0};
	/* a co-run grid is rarely there */
	const struct validate_options options = {.ids = &all, .sharing = sharing == &sharing_measured ? &sharing_fluid : sharing,
	    .sync = sync};
	struct validation v = {0};

	*evidence = (struct evidence){.n = 0};
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct rows *const rows = arena_alloc(arena, 1, sizeof(*rows));
		if (i == 0 || strcmp(sources[i].set, sources[i - 1].set) != 0) {
			v = (struct validation){0};
			if (rows_load(rows, sources[i].set, arena, err) || validate_rows(&v, rows, &options, arena, err))
				return err->code;
		}
		evidence_add(evidence, &v, sources[i].hw, sources[i].evidence, arena);
	}
	return 0;
}

static const char *machine_of(const char *hw)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(hw, aliases[i].hw) == 0)
			return aliases[i].of;
	return hw;
}

bool discrepancy_compares(const char *hw, size_t quantity)
{
	const char *const machine = machine_of(hw);

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (strcmp(sources[i].hw, machine) == 0)
			return (sources[i].compared >> quantity) & 1u;
	return true;
}

void discrepancy_without(struct discrepancy *d, const struct evidence *evidence, const char *hw)
{
	const char *const machine = machine_of(hw);

	*d = (struct discrepancy){.n_rows = {0}};
	for (size_t q = 0; q < QUANTITY_N; q++) {
		double square = 0, own_square = 0;
		size_t n_own = 0;
		for (size_t i = 0; i < evidence->n; i++) {
			const struct evidence_machine *const m = &evidence->machines[i];
			if (strcmp(m->hw, machine) == 0 || m->n[q] == 0)
				continue;
			d->n_machines[q]++;
			d->n_rows[q] += m->n[q];
			square += m->square[q];
			own_square += m->own_square[q];
			n_own += m->n_own[q] > 0;
		}
		d->log_sd[q] = d->n_machines[q] ? sqrt(square / (double)d->n_machines[q]) : 0;
		d->own_log_sd[q] = fmin(d->log_sd[q], n_own ? sqrt(own_square / (double)n_own) : d->log_sd[q]);
	}
}

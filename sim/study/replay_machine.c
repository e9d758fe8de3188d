/* SPDX-License-Identifier: GPL-3.0-or-later
 * The machine of a recording: by the name of its GPU, and by what the recording measures. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/replay.h"

static const struct {
	const char *name;
	double flop_per_s, hbm_Bps;
} gpus[] = {
    {"V100", 125e12, 0.9e12},
    {"A100", 312e12, 1.555e12},
    {"H100", 989e12, 3.35e12},
    {"H200", 989e12, 4.8e12},
    {"GH200", 989e12, 4.0e12},
    {"B200", 2250e12, 8.0e12},
    {"MI250", 181e12, 1.6e12},
    {"MI300", 1307e12, 5.3e12},
    {"A10", 125e12, 0.6e12},
    {"A40", 150e12, 0.696e12},
    {"L40", 181e12, 0.864e12},
    {"T4", 65e12, 0.32e12},
};
enum { N_GPUS = sizeof(gpus) / sizeof(gpus[0]) };

/* As a whole word: "A10" is not in "A100". */
static bool names_gpu(const char *text, const char *gpu)
{
	const size_t n = strlen(gpu);

	for (const char *at = strcasestr(text, gpu); at; at = strcasestr(at + 1, gpu))
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isdigit((unsigned char)at[n]))
			return true;
	return false;
}

bool replay_gpu_rates(double *flop_per_s, double *hbm_Bps, const char *gpu)
{
	for (size_t i = 0; i < N_GPUS; i++)
		if (names_gpu(gpu, gpus[i].name)) {
			*flop_per_s = gpus[i].flop_per_s;
			*hbm_Bps = gpus[i].hbm_Bps;
			return true;
		}
	return false;
}

/* ---- what a recording measures */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Rate that a tenth of the large pinned copies reach: nearly that of a copy alone. 0: too few. */
static double link_Bps(const struct recording *rec, enum rec_kind kind)
{
	static const uint64_t large_bytes = 8000000;
	double *const rates = xmalloc(rec->n_events + 1, sizeof(*rates));
	size_t n = 0;

	for (size_t i = 0; i < rec->n_events; i++) {
		const struct rec_event *const event = &rec->events[i];
		if (event->kind == kind && event->memory != REC_PAGEABLE && event->bytes >= large_bytes &&
		    event->duration_ns > 0)
			rates[n++] = (double)event->bytes / (double)event->duration_ns * 1e9;
	}
	qsort(rates, n, sizeof(*rates), compare);
	const double found_Bps = n >= 4 ? rates[n - 1 - n / 10] : 0;
	free(rates);
	return found_Bps;
}

void replay_measured_take(struct replay_measured *m, const struct recording *rec, const struct replay_update *u)
{
	*m = (struct replay_measured){.h2d_Bps = link_Bps(rec, REC_H2D), .d2h_Bps = link_Bps(rec, REC_D2H)};
	if (!u || u->n == 0 || !(u->push_s_per_param > 0))
		return;
	/* the first push comes after all of Adam and one downscale; the others are a downscale apart */
	const double downscale_s = u->push_s_per_param * u->params[0], adam_s = u->first_push_s - downscale_s;
	if (adam_s < 3 * downscale_s)
		return;
	m->adam_params_per_s = u->total_params / adam_s;
	m->downscale_params_per_s = 1 / u->push_s_per_param;
}

const char *replay_measured_text(const struct replay_measured *m, struct arena *arena)
{
	const struct {
		const char *what;
		enum unit unit;
		double value;
	} values[] = {{"h2d", UNIT_BYTES_PER_S, m->h2d_Bps}, {"d2h", UNIT_BYTES_PER_S, m->d2h_Bps},
	    {"cpu adam", UNIT_PARAMS_PER_S, m->adam_params_per_s},
	    {"downscale", UNIT_PARAMS_PER_S, m->downscale_params_per_s}};
	const char *text = "";
	char number[UNITS_TEXT_MAX];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].value > 0)
			text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", values[i].what,
			    units_print(number, values[i].unit, values[i].value));
	return text;
}

static void apply_link(struct curve *curve, double *duplex_Bps, double found_Bps)
{
	const double factor = found_Bps > 0 ? found_Bps / curve_peak(curve) : 1;

	curve_scale(curve, factor);
	*duplex_Bps = fmin(*duplex_Bps * factor, curve_peak(curve));
}

void replay_measured_apply(struct hwprofile *hw, const struct replay_measured *m, double threads)
{
	apply_link(&hw->h2d, &hw->h2d_duplex_Bps, m->h2d_Bps);
	apply_link(&hw->d2h, &hw->d2h_duplex_Bps, m->d2h_Bps);
	if (m->adam_params_per_s > 0) {
		curve_scale(
		    &hw->cpu_adam, m->adam_params_per_s / curve_rate(&hw->cpu_adam, threads > 0 ? threads : hw->threads));
		curve_scale(&hw->cpu_downscale, m->downscale_params_per_s / curve_rate(&hw->cpu_downscale, hw->workers));
	}
	hwprofile_rehash(hw);
}

/* Sum of the logarithms of the ratios. Downscale is left out: its team is not known. */
static double distance(const struct hwprofile *hw, const struct replay_measured *m)
{
	const struct {
		double found, peak;
	} pairs[] = {{m->h2d_Bps, curve_peak(&hw->h2d)}, {m->d2h_Bps, curve_peak(&hw->d2h)},
	    {m->adam_params_per_s, curve_peak(&hw->cpu_adam)}};
	double sum = 0;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		sum += pairs[i].found > 0 ? fabs(log(pairs[i].found / pairs[i].peak)) : 0;
	return sum;
}

static bool is_same_gpu(const char *profile, const char *gpu)
{
	for (size_t i = 0; i < N_GPUS; i++)
		if (names_gpu(gpu, gpus[i].name))
			return names_gpu(profile, gpus[i].name);
	return false;
}

const char *replay_nearest_profile(const char *gpu, const struct replay_measured *measured, struct arena *arena)
{
	struct hwprofile *const hw = arena_alloc(arena, 1, sizeof(*hw));
	struct opt_list names;
	struct err err;
	const char *best = NULL;
	double least = INFINITY;

	hwprofile_list(&names, arena);
	for (size_t i = 0; i < names.n; i++) {
		if (!is_same_gpu(names.items[i], gpu) || hwprofile_load(hw, names.items[i], arena, &err))
			continue;
		const double far = distance(hw, measured);
		if (far < least) {
			least = far;
			best = names.items[i];
		}
	}
	return best;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_points.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 4096, WORDS_MAX = 4, LINE_MAX_BYTES = 1024 };

static void append(struct update_points *points, const struct update_point *point, struct arena *arena)
{
	if ((points->n & (points->n - 1)) == 0) {
		struct update_point *const grown = arena_alloc(arena, points->n ? 2 * points->n : 1, sizeof *grown);
		if (points->n)
			memcpy(grown, points->points, points->n * sizeof *grown);
		points->points = grown;
	}
	points->points[points->n++] = *point;
}

static int default_threads(const struct update_policy *policy, const struct update_defaults *defaults)
{
	if (defaults->threads > 0)
		return defaults->threads;
	const long long reserved = update_policy_has_worker(policy) ? policy->workers : 0;
	return reserved < defaults->n_cpus ? (int)(defaults->n_cpus - reserved) : 1;
}

static int add_one(struct update_points *points, const char *spec, const struct update_defaults *defaults,
    struct arena *arena, struct err *err)
{
	struct update_point point = {.layout = update_layout_of(defaults->subgroup_params, defaults->n_subgroups)};
	const int rc = update_policy_parse(&point.policy, spec, arena, err);
	if (rc)
		return rc;
	point.threads = default_threads(&point.policy, defaults);
	append(points, &point, arena);
	return 0;
}

/* Every combination of the values of a SPEC's pairs, the first pair slowest. */
static int expand(
    struct opt_list *out, const struct spec *spec, size_t pair, const char *text, struct arena *arena, struct err *err)
{
	if (pair == spec->n_pairs) {
		opt_list_add(out, text, arena);
		return 0;
	}
	const char *const key = spec->pairs[pair].key;
	struct opt_list values = {0};
	int rc = 0;
	if (strcmp(key, "mask") == 0)
		opt_list_add(&values, spec->pairs[pair].value, arena);
	else
		rc = opt_expand(&values, spec->pairs[pair].value, ';', arena, err);
	for (size_t i = 0; i < values.n && rc == 0; i++) {
		const char *const longer = arena_printf(arena, "%s%c%s=%s", text, pair ? ',' : ':', key, values.items[i]);
		rc = expand(out, spec, pair + 1, longer, arena, err);
	}
	return rc;
}

int update_points_add(struct update_points *points, const char *text, const struct update_defaults *defaults,
    struct arena *arena, struct err *err)
{
	struct opt_list specs = {0}, single = {0};
	int rc = spec_split(&specs, text, arena, err);
	for (size_t i = 0; i < specs.n && rc == 0; i++) {
		struct spec spec;
		rc = spec_parse(&spec, specs.items[i], arena, err);
		if (rc == 0)
			rc = expand(&single, &spec, 0, spec.name, arena, err);
	}
	for (size_t i = 0; i < single.n && rc == 0; i++)
		rc = add_one(points, single.items[i], defaults, arena, err);
	return rc;
}

static int read_count(double *value, const char *word, double max, struct err *err)
{
	const int rc = units_parse(value, UNIT_PARAMS, word, err);
	if (rc)
		return rc;
	if (*value < 1 || *value > max || *value != (double)(size_t)*value)
		return err_set(err, STATUS_USAGE, "'%s' is not a whole number from 1 to %g", word, max);
	return 0;
}

static int add_line(
    struct update_points *points, char *line, const struct update_defaults *defaults, struct arena *arena, struct err *err)
{
	struct update_defaults own = *defaults;
	char *words[WORDS_MAX], *save = NULL;
	size_t n_words = 0;
	line[strcspn(line, "#\r\n")] = '\0';
	for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (n_words == WORDS_MAX)
			return err_set(err, STATUS_USAGE, "more than 'SPEC subgroup subgroups threads'");
		words[n_words++] = word;
	}
	double counts[WORDS_MAX] = {0, (double)own.subgroup_params, (double)own.n_subgroups, own.threads};
	static const double limits[WORDS_MAX] = {0, 1e11, 1e6, THREADS_MAX};
	int rc = 0;
	for (size_t i = 1; i < n_words && rc == 0; i++)
		rc = read_count(&counts[i], words[i], limits[i], err);
	own.subgroup_params = (size_t)counts[1];
	own.n_subgroups = (size_t)counts[2];
	own.threads = (int)counts[3];
	return rc || n_words == 0 ? rc : update_points_add(points, words[0], &own, arena, err);
}

int update_points_load(struct update_points *points, const char *path, const struct update_defaults *defaults,
    struct arena *arena, struct err *err)
{
	FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char line[LINE_MAX_BYTES];
	size_t line_number = 0;
	int rc = 0;
	if (!file)
		return err_set(err, STATUS_INPUT, "%s: %s", path, strerror(errno));
	while (rc == 0 && fgets(line, sizeof line, file)) {
		line_number++;
		rc = add_line(points, line, defaults, arena, err);
		if (rc) {
			err->code = STATUS_INPUT;
			rc = err_wrap(err, "%s:%zu", path, line_number);
		}
	}
	if (file != stdin)
		fclose(file);
	return rc;
}

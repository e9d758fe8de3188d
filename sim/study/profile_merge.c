/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/profile_merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/profile_latency.h"
#include "sim/study/profile_merge_parts.h"

static double number_at(const struct hwprofile *hw, size_t offset)
{
	return *(const double *)(const void *)((const char *)hw + offset);
}

static void set_number(struct hwprofile *hw, size_t offset, double value)
{
	*(double *)(void *)((char *)hw + offset) = value;
}

static const struct curve *curve_at(const struct hwprofile *hw, size_t offset)
{
	return (const struct curve *)(const void *)((const char *)hw + offset);
}

static struct curve *merged_curve(const struct merge *m, size_t offset)
{
	return (struct curve *)(void *)((char *)m->merged + offset);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sorts the first n of m->numbers. */
static double joined(const struct merge *m, size_t n)
{
	qsort(m->numbers, n, sizeof(*m->numbers), compare_doubles);
	return n % 2 ? m->numbers[n / 2] : sqrt(m->numbers[n / 2 - 1] * m->numbers[n / 2]);
}

static bool is_joined(enum hw_kind kind)
{
	return kind == HW_KIND_MEASURED || kind == HW_KIND_FITTED;
}

/* ---- texts */

/* Distinct texts of the parts in their order, put together. */
static const char *join_texts(const struct merge *m, const char *(*text_of)(const struct hwprofile *hw, size_t i), size_t i)
{
	const char *all = text_of(m->parts[0].hw, i);

	for (size_t part = 1; part < m->n_parts; part++) {
		const char *const text = text_of(m->parts[part].hw, i);
		bool is_new = *text != '\0';
		for (size_t before = 0; before < part; before++)
			is_new = is_new && strcmp(text, text_of(m->parts[before].hw, i)) != 0;
		if (is_new)
			all = arena_printf(m->arena, "%s%s%s", all, *all ? "; " : "", text);
	}
	return all;
}

/* The same, with how many of the parts it is from when not all give it. */
static const char *join_sources(const struct merge *m, const char *(*text_of)(const struct hwprofile *hw, size_t i), size_t i, size_t n_given)
{
	const char *const all = join_texts(m, text_of, i);

	return n_given == m->n_parts ? all : arena_printf(m->arena, "%s%sin %zu of %zu files", all, *all ? "; " : "", n_given, m->n_parts);
}

static const char *value_source(const struct hwprofile *hw, size_t i)
{
	return hw->value_meta[i].source;
}

static const char *curve_source(const struct hwprofile *hw, size_t i)
{
	return hw->curve_meta[i].source;
}

static const char *note_of(const struct hwprofile *hw, size_t i)
{
	(void)i;
	return hw->provenance.note;
}

/* ---- values */

static int compare_dates(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void join_samples(struct hw_meta *meta, const struct merge *m, size_t i)
{
	size_t n = 0;

	for (size_t part = 0; part < m->n_parts; part++)
		n += m->parts[part].hw->value_meta[i].n_samples;
	double *const samples = arena_alloc(m->arena, n + 1, sizeof(*samples));
	meta->samples = samples;
	meta->n_samples = 0;
	for (size_t part = 0; part < m->n_parts; part++) {
		const struct hw_meta *const from = &m->parts[part].hw->value_meta[i];
		if (from->n_samples > 0)
			memcpy(samples + meta->n_samples, from->samples, from->n_samples * sizeof(*samples));
		meta->n_samples += from->n_samples;
	}
}

static void join_value(struct hw_meta *meta, const struct merge *m, size_t i)
{
	const size_t offset = hw_value_fields[i].offset;
	double lo = INFINITY, hi = -INFINITY;
	size_t n = 0;

	for (size_t part = 0; part < m->n_parts; part++) {
		const struct hw_meta *const from = &m->parts[part].hw->value_meta[i];
		const double value = number_at(m->parts[part].hw, offset);
		if (from->kind == HW_KIND_DEFAULT)
			continue;
		m->numbers[n++] = value;
		lo = fmin(lo, isnan(from->lo) ? value : from->lo);
		hi = fmax(hi, isnan(from->hi) ? value : from->hi);
	}
	set_number(m->merged, offset, joined(m, n));
	*meta = (struct hw_meta){.kind = meta->kind, .lo = lo < hi ? lo : NAN, .hi = lo < hi ? hi : NAN,
	    .source = join_sources(m, value_source, i, n)};
	join_samples(meta, m, i);
}

static int merge_kind(const struct merge *m, size_t part, const char *name, enum hw_kind first, enum hw_kind other)
{
	if (first == other || other == HW_KIND_DEFAULT)
		return 0;
	return profile_merge_differs(m, part, name, arena_printf(m->arena, ", %s and %s", hw_kind_names[first], hw_kind_names[other]));
}

/* Of the parts that give it: what a file does not give, it does not know. */
static int merge_value(struct hw_meta *meta, const struct merge *all, size_t i)
{
	const struct hw_field *const field = &hw_value_fields[i];
	struct merge m = *all;

	while (m.first + 1 < m.n_parts && m.parts[m.first].hw->value_meta[i].kind == HW_KIND_DEFAULT)
		m.first++;
	const double first = number_at(m.parts[m.first].hw, field->offset);
	*meta = m.parts[m.first].hw->value_meta[i];
	set_number(m.merged, field->offset, first);
	for (size_t part = m.first + 1; part < m.n_parts; part++) {
		const struct hwprofile *const other = m.parts[part].hw;
		const enum hw_kind kind = other->value_meta[i].kind;
		if (merge_kind(&m, part, field->name, meta->kind, kind))
			return m.err->code;
		if (kind != HW_KIND_DEFAULT && !is_joined(kind) && number_at(other, field->offset) != first)
			return profile_merge_differs_number(&m, part, field->name, first, number_at(other, field->offset));
	}
	if (is_joined(meta->kind))
		join_value(meta, &m, i);
	return 0;
}

static int merge_values(const struct merge *m)
{
	struct hw_meta *const metas = arena_alloc(m->arena, hw_n_value_fields, sizeof(*metas));

	m->merged->value_meta = metas;
	for (size_t i = 0; i < hw_n_value_fields; i++)
		if (merge_value(&metas[i], m, i))
			return m->err->code;
	return 0;
}

/* ---- curves */

/* Factor of a part's rates on the joined ones. */
static double curve_factor(const struct curve *part, const struct curve *all)
{
	double sum = 0;

	for (size_t i = 0; i < all->n_points; i++)
		sum += log(part->rate[i] / all->rate[i]);
	return exp(sum / (double)all->n_points);
}

static void join_curve(struct hw_meta *meta, const struct merge *m, size_t i)
{
	const size_t offset = hw_curve_fields[i].offset;
	struct curve *const all = merged_curve(m, offset);
	double lo = 1, hi = 1;
	size_t n = 0;

	for (size_t point = 0; point < all->n_points; point++) {
		n = 0;
		for (size_t part = 0; part < m->n_parts; part++)
			if (m->parts[part].hw->curve_meta[i].kind != HW_KIND_DEFAULT)
				m->numbers[n++] = curve_at(m->parts[part].hw, offset)->rate[point];
		all->rate[point] = joined(m, n);
	}
	for (size_t part = 0; part < m->n_parts && n > 0; part++) {
		const struct hw_meta *const from = &m->parts[part].hw->curve_meta[i];
		if (from->kind == HW_KIND_DEFAULT)
			continue;
		const double factor = curve_factor(curve_at(m->parts[part].hw, offset), all);
		lo = fmin(lo, factor * (isnan(from->lo) ? 1 : from->lo));
		hi = fmax(hi, factor * (isnan(from->hi) ? 1 : from->hi));
	}
	meta->lo = lo < hi ? lo : NAN;
	meta->hi = lo < hi ? hi : NAN;
	meta->source = join_sources(m, curve_source, i, n);
}

static int check_points(const struct merge *m, size_t part, const struct hw_curve_field *field, bool same_rates)
{
	const struct curve *const first = curve_at(m->parts[m->first].hw, field->offset);
	const struct curve *const other = curve_at(m->parts[part].hw, field->offset);

	if (first->n_points != other->n_points)
		return profile_merge_differs_number(m, part, arena_printf(m->arena, "the number of points of %s", field->name),
		    (double)first->n_points, (double)other->n_points);
	for (size_t i = 0; i < first->n_points; i++) {
		if (first->x[i] != other->x[i])
			return profile_merge_differs_number(m, part, arena_printf(m->arena, "the points of %s", field->name), first->x[i], other->x[i]);
		if (same_rates && first->rate[i] != other->rate[i])
			return profile_merge_differs_number(m, part, arena_printf(m->arena, "%s at %.10g", field->name, first->x[i]), first->rate[i],
			    other->rate[i]);
	}
	return 0;
}

/* As a value. One that no file gives is filled from the joined others, as a reader would. */
static int merge_curve(struct hw_meta *meta, const struct merge *all, size_t i)
{
	const struct hw_curve_field *const field = &hw_curve_fields[i];
	struct merge m = *all;

	while (m.first + 1 < m.n_parts && m.parts[m.first].hw->curve_meta[i].kind == HW_KIND_DEFAULT)
		m.first++;
	*meta = m.parts[m.first].hw->curve_meta[i];
	*merged_curve(&m, field->offset) = *curve_at(m.parts[m.first].hw, field->offset);
	for (size_t part = m.first + 1; part < m.n_parts; part++) {
		const enum hw_kind other = m.parts[part].hw->curve_meta[i].kind;
		if (merge_kind(&m, part, field->name, meta->kind, other) ||
		    (other != HW_KIND_DEFAULT && check_points(&m, part, field, !is_joined(other))))
			return m.err->code;
	}
	if (is_joined(meta->kind))
		join_curve(meta, &m, i);
	else if (meta->kind == HW_KIND_DEFAULT)
		merged_curve(&m, field->offset)->n_points = 0;
	return 0;
}

static int merge_curves(const struct merge *m)
{
	struct hw_meta *const metas = arena_alloc(m->arena, hw_n_curve_fields, sizeof(*metas));

	m->merged->curve_meta = metas;
	for (size_t i = 0; i < hw_n_curve_fields; i++)
		if (merge_curve(&metas[i], m, i))
			return m->err->code;
	hwprofile_fill_curves(m->merged);
	return 0;
}

/* ---- contention grid */

static int check_cell(const struct merge *m, size_t part, size_t i)
{
	const struct hw_corun *const a = &m->parts[0].hw->corun[i], *const b = &m->parts[part].hw->corun[i];

	if (strcmp(a->first, b->first) == 0 && strcmp(a->second, b->second) == 0 && a->first_threads == b->first_threads &&
	    a->second_threads == b->second_threads && a->ranks == b->ranks)
		return 0;
	return profile_merge_differs(m, part, "the co-run grid",
	    arena_printf(m->arena, ", %s (%.0f) x %s (%.0f) and %s (%.0f) x %s (%.0f) as cell %zu", a->first, a->first_threads, a->second,
		a->second_threads, b->first, b->first_threads, b->second, b->second_threads, i + 1));
}

static int merge_corun(const struct merge *m)
{
	static const size_t offsets[] = {offsetof(struct hw_corun, first_alone), offsetof(struct hw_corun, first_together),
	    offsetof(struct hw_corun, second_alone), offsetof(struct hw_corun, second_together)};

	for (size_t part = 1; part < m->n_parts; part++)
		if (m->parts[part].hw->n_corun != m->merged->n_corun)
			return profile_merge_differs_number(m, part, "the number of co-run cells", (double)m->merged->n_corun,
			    (double)m->parts[part].hw->n_corun);
	for (size_t i = 0; i < m->merged->n_corun; i++) {
		for (size_t part = 1; part < m->n_parts; part++)
			if (check_cell(m, part, i))
				return m->err->code;
		for (size_t j = 0; j < sizeof(offsets) / sizeof(offsets[0]); j++) {
			for (size_t part = 0; part < m->n_parts; part++)
				m->numbers[part] = *(const double *)(const void *)((const char *)&m->parts[part].hw->corun[i] + offsets[j]);
			*(double *)(void *)((char *)&m->merged->corun[i] + offsets[j]) = joined(m, m->n_parts);
		}
	}
	return 0;
}

/* ---- where it comes from */

/* First and last date; a line of sources for every file. */
static void set_provenance(const struct merge *m, const char *command)
{
	struct hw_provenance *const p = &m->merged->provenance;
	const char **const sources = arena_alloc(m->arena, m->n_parts, sizeof(*sources));
	const char **const dates = arena_alloc(m->arena, m->n_parts, sizeof(*dates));

	for (size_t part = 0; part < m->n_parts; part++) {
		const struct hw_provenance *const from = &m->parts[part].hw->provenance;
		const char *const file = strrchr(m->parts[part].file, '/');
		sources[part] = arena_printf(m->arena, "%s: %s%s%s, %s", file ? file + 1 : m->parts[part].file, from->tool,
		    *from->date ? ", " : "", from->date, *from->command ? from->command : "command unknown");
		dates[part] = from->date;
		m->merged->complete = m->merged->complete && m->parts[part].hw->complete;
	}
	qsort(dates, m->n_parts, sizeof(*dates), compare_dates);
	p->date = strcmp(dates[0], dates[m->n_parts - 1]) == 0 ? dates[0]
	    : arena_printf(m->arena, "%s .. %s", dates[0], dates[m->n_parts - 1]);
	p->command = command;
	p->sources = sources;
	p->n_sources = m->n_parts;
	p->note = join_texts(m, note_of, 0);
}

int profile_merge(struct hwprofile *merged, const struct profile_part parts[], size_t n_parts, const struct profile_merge_head *head,
    struct arena *arena, struct err *err)
{
	const struct merge m = {merged, parts, n_parts, 0, arena_alloc(arena, n_parts, sizeof(double)), arena, err};

	*merged = *parts[0].hw;
	if (profile_merge_check_same(&m, head->name != NULL) || merge_values(&m) || merge_curves(&m) || merge_corun(&m))
		return err->code;
	profile_fit_latency(merged, arena);
	if (head->name) {
		if (strlen(head->name) >= sizeof(merged->name) || !*head->name)
			return err_set(err, STATUS_USAGE, "--name '%s': 1 to %zu bytes would be accepted", head->name, sizeof(merged->name) - 1);
		strcpy(merged->name, head->name);
	}
	set_provenance(&m, head->command);
	hwprofile_rehash(merged);
	return hwprofile_check(merged, merged->name, err);
}

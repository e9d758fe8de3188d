/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/replay_print.h"

#include <inttypes.h>
#include <math.h>

enum { SHOWN_MAX = 12 };

static double seconds(int64_t ns)
{
	return (double)ns * 1e-9;
}

static double median_s(const struct recording *rec, enum phase phase)
{
	const int64_t ns = recording_median_ns(rec, phase);
	return ns < 0 ? NAN : seconds(ns);
}

static struct measure all_phases(const struct replay_report *r)
{
	struct measure sum = {.h2d_bytes = 0};

	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++) {
		const struct measure m = measure_phase(&r->measures, phase);
		measure_add(&sum, &m);
	}
	return sum;
}

static double share(const struct measure *m, int64_t ns)
{
	const int64_t total_ns = measure_total_ns(m);
	return total_ns > 0 ? (double)ns / (double)total_ns : NAN;
}

/* ---- JSON */

static void json_measure(struct jsonw *w, const struct measure *m)
{
	const int64_t h2d_ns = measure_busy_ns(m, BUSY_H2D, 0), d2h_ns = measure_busy_ns(m, BUSY_D2H, 0);

	jsonw_key(w, "busy_frac");
	jsonw_inline_object(w);
	jsonw_member_number(w, "gpu", share(m, measure_busy_ns(m, BUSY_COMPUTE, 0)));
	jsonw_member_number(w, "h2d", share(m, h2d_ns));
	jsonw_member_number(w, "d2h", share(m, d2h_ns));
	jsonw_member_number(w, "host", share(m, measure_busy_ns(m, BUSY_HOST, 0)));
	jsonw_end_object(w);
	jsonw_member_number(w, "exposed_s", seconds(measure_exposed_ns(m)));
	jsonw_member_number(w, "gap_s", seconds(measure_gap_ns(m)));
	jsonw_member_number(w, "longest_gap_s", seconds(m->longest_gap_ns));
	jsonw_member_integer(w, "h2d_bytes", (long long)m->h2d_bytes);
	jsonw_member_integer(w, "d2h_bytes", (long long)m->d2h_bytes);
	jsonw_member_integer(w, "pageable_bytes", (long long)m->pageable_bytes);
	jsonw_member_number(w, "h2d_Bps", m->h2d_bytes > 0 && h2d_ns > 0 ? (double)m->h2d_bytes / seconds(h2d_ns) : NAN);
	jsonw_member_number(w, "d2h_Bps", m->d2h_bytes > 0 && d2h_ns > 0 ? (double)m->d2h_bytes / seconds(d2h_ns) : NAN);
	jsonw_member_integer(w, "n_copies_without_bytes", (long long)m->n_unsized);
	jsonw_member_string(w, "bottleneck", measure_limit(m));
}

static void json_phases(struct jsonw *w, const struct replay_report *r)
{
	jsonw_key(w, "phases");
	jsonw_object(w);
	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++) {
		const struct measure m = measure_phase(&r->measures, phase);
		if (isnan(median_s(r->rec, phase)))
			continue;
		jsonw_key(w, phase_names[phase]);
		jsonw_object(w);
		jsonw_member_number(w, "median_s", median_s(r->rec, phase));
		if (r->rec->is_timeline)
			json_measure(w, &m);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

static void json_check(struct jsonw *w, const struct replay_check *c)
{
	jsonw_key(w, "unchanged");
	jsonw_object(w);
	jsonw_member_string(w, "halves", c->by_iteration ? "iterations" : "operations");
	jsonw_member_integer(w, "n_iterations", (long long)c->n_iterations);
	jsonw_member_integer(w, "n_held_out", (long long)c->n_held_out);
	jsonw_member_integer(w, "n_ops", (long long)c->n_ops);
	jsonw_member_number(w, "recorded_iteration_s", c->recorded_iteration_s);
	jsonw_member_number(w, "simulated_iteration_s", c->simulated_iteration_s);
	jsonw_member_number(w, "error_frac", c->error_frac);
	jsonw_member_number(w, "as_recorded_frac", c->single_frac);
	jsonw_key(w, "phases");
	jsonw_object(w);
	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++) {
		jsonw_key(w, phase_names[phase]);
		jsonw_inline_object(w);
		jsonw_member_number(w, "recorded_s", c->recorded_s[phase]);
		jsonw_member_number(w, "simulated_s", c->simulated_s[phase]);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
	jsonw_end_object(w);
}

static void json_notes(struct jsonw *w, const struct recording *rec)
{
	jsonw_key(w, "warnings");
	jsonw_array(w);
	for (size_t i = 0; i < rec->n_notes; i++) {
		jsonw_inline_object(w);
		jsonw_member_string(w, "text", rec->notes[i].text);
		jsonw_member_integer(w, "count", (long long)rec->notes[i].count);
		if (rec->notes[i].unit[0])
			jsonw_member_integer(w, rec->notes[i].unit, (long long)rec->notes[i].where);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

static void json_head(struct jsonw *w, const struct replay_report *r)
{
	const struct recording *const rec = r->rec;
	static const char *const keys[PHASE_N] = {"forward_s", "backward_s", "update_s", "other_s"};

	jsonw_member_string(w, "schema", "dos-replay/1");
	jsonw_member_string(w, "file", rec->file);
	jsonw_member_string(w, "format", rec->format);
	jsonw_member_string(w, "gpu", rec->facts.gpu);
	jsonw_member_integer(w, "rank", rec->facts.rank);
	jsonw_member_string(w, "policy", rec->facts.policy);
	jsonw_member_integer(w, "n_read", (long long)rec->n_read);
	jsonw_member_integer(w, "n_iterations", (long long)rec->n_iterations);
	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++)
		jsonw_member_number(w, keys[phase], median_s(rec, phase));
	jsonw_member_number(w, "iteration_s", median_s(rec, PHASE_N));
	jsonw_member_integer(w, "gpu_peak_bytes", rec->facts.gpu_peak_bytes);
	jsonw_member_integer(w, "host_used_bytes", rec->facts.host_used_bytes);
}

/* Of the whole file, inside iterations or not: to check the reading by. */
static void json_totals(struct jsonw *w, const struct recording *rec)
{
	uint64_t bytes[REC_KIND_N] = {0};
	size_t n[REC_KIND_N] = {0};
	double busy_s[REC_KIND_N] = {0};

	for (size_t i = 0; i < rec->n_events; i++) {
		bytes[rec->events[i].kind] += rec->events[i].bytes;
		busy_s[rec->events[i].kind] += seconds(rec->events[i].duration_ns);
		n[rec->events[i].kind]++;
	}
	jsonw_key(w, "events");
	jsonw_object(w);
	for (size_t kind = 0; kind <= REC_HOST; kind++) {
		jsonw_key(w, rec_kind_names[kind]);
		jsonw_inline_object(w);
		jsonw_member_integer(w, "n", (long long)n[kind]);
		jsonw_member_integer(w, "bytes", (long long)bytes[kind]);
		jsonw_member_number(w, "sum_s", busy_s[kind]);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

static void json_table(struct jsonw *w, const char *key, struct table *t)
{
	jsonw_key(w, key);
	table_json(t, w);
	table_free(t);
}

void replay_report_json(const struct replay_report *r, FILE *out)
{
	const struct measure all = all_phases(r);
	struct jsonw w;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	json_head(&w, r);
	if (r->rec->is_timeline) {
		json_measure(&w, &all);
		json_totals(&w, r->rec);
	}
	json_phases(&w, r);
	if (r->check.has_run)
		json_check(&w, &r->check);
	if (r->n_rows > 0) {
		jsonw_member_string(&w, "learned", r->machine);
		json_table(&w, "what_if", replay_rows_table(r, FORMAT_JSON));
	}
	json_table(&w, "iterations", replay_iterations_table(r, FORMAT_JSON, r->rec->n_iterations));
	json_notes(&w, r->rec);
	jsonw_end_object(&w);
	putc('\n', out);
}

void replay_report_csv(const struct replay_report *r, FILE *out)
{
	struct table *const t =
	    r->n_rows > 0 ? replay_rows_table(r, FORMAT_CSV) : replay_iterations_table(r, FORMAT_CSV, r->rec->n_iterations);

	table_print(t, FORMAT_CSV, out);
	table_free(t);
}

/* ---- text */

static const char *print(char text[UNITS_TEXT_MAX], enum unit unit, double value)
{
	return isnan(value) ? "-" : units_print(text, unit, value);
}

static void text_head(const struct recording *rec, FILE *out)
{
	fprintf(out, "%s: %s", rec->file, rec->format);
	if (rec->facts.gpu[0])
		fprintf(out, ", %s", rec->facts.gpu);
	if (rec->facts.world_size > 1)
		fprintf(out, ", rank %" PRId64 " of %" PRId64, rec->facts.rank, rec->facts.world_size);
	fprintf(out, ", %zu iteration%s\n", rec->n_iterations, rec->n_iterations == 1 ? "" : "s");
	if (rec->facts.policy[0])
		fprintf(out, "policy: %s\n", rec->facts.policy);
}

static void text_phase(const char *name, double phase_s, const struct measure *m, const struct recording *rec, FILE *out)
{
	char time[UNITS_TEXT_MAX], gpu[UNITS_TEXT_MAX], h2d[UNITS_TEXT_MAX], d2h[UNITS_TEXT_MAX], exposed[UNITS_TEXT_MAX];
	const char *const limit = rec->is_timeline ? measure_limit(m) : "";

	fprintf(out, "  %-9s %9s", name, print(time, UNIT_SECONDS, phase_s));
	if (rec->is_timeline)
		fprintf(out, "   gpu %6s  h2d %6s  d2h %6s  exposed copies %8s%s%s",
		    print(gpu, UNIT_FRAC, share(m, measure_busy_ns(m, BUSY_COMPUTE, 0))),
		    print(h2d, UNIT_FRAC, share(m, measure_busy_ns(m, BUSY_H2D, 0))),
		    print(d2h, UNIT_FRAC, share(m, measure_busy_ns(m, BUSY_D2H, 0))),
		    print(exposed, UNIT_SECONDS, seconds(measure_exposed_ns(m)) / (double)rec->n_iterations), *limit ? "   limited by " : "", limit);
	putc('\n', out);
}

static void text_phases(const struct replay_report *r, FILE *out)
{
	const struct measure all = all_phases(r);

	fputs("\nmedian times; busy shares and exposed copies of a mean iteration\n", out);
	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++) {
		const struct measure m = measure_phase(&r->measures, phase);
		if (!isnan(median_s(r->rec, phase)))
			text_phase(phase_names[phase], median_s(r->rec, phase), &m, r->rec, out);
	}
	text_phase("iteration", median_s(r->rec, PHASE_N), &all, r->rec, out);
}

static void text_direction(const char *name, uint64_t bytes, int64_t busy_ns, FILE *out)
{
	char size[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];

	if (bytes > 0 && busy_ns > 0)
		fprintf(out, "  %s %s at %s (decimal)\n", name, units_print(size, UNIT_BYTES, (double)bytes),
		    units_print(rate, UNIT_BYTES_PER_S, (double)bytes / seconds(busy_ns)));
}

static void text_links(const struct replay_report *r, FILE *out)
{
	const struct measure all = all_phases(r);
	char gap[UNITS_TEXT_MAX], longest[UNITS_TEXT_MAX];

	fputs("\nPCIe while copying; gaps: neither GPU nor links nor recorded host work\n", out);
	text_direction("h2d", all.h2d_bytes, measure_busy_ns(&all, BUSY_H2D, 0), out);
	text_direction("d2h", all.d2h_bytes, measure_busy_ns(&all, BUSY_D2H, 0), out);
	fprintf(out, "  gaps %s, the longest %s\n", print(gap, UNIT_SECONDS, seconds(measure_gap_ns(&all))),
	    print(longest, UNIT_SECONDS, seconds(all.longest_gap_ns)));
}

static void text_check(const struct replay_check *c, FILE *out)
{
	char recorded[UNITS_TEXT_MAX], simulated[UNITS_TEXT_MAX];

	if (!c->has_run)
		return;
	fprintf(out,
	    "\nunchanged replay, rates from alternate %s, compared with the others: iteration %s recorded, %s simulated "
	    "(%+.1f %%)",
	    c->by_iteration ? "iterations" : "operations of the only iteration",
	    print(recorded, UNIT_SECONDS, c->recorded_iteration_s),
	    print(simulated, UNIT_SECONDS, c->simulated_iteration_s), 100 * c->error_frac);
	if (c->single_frac > 0.005)
		fprintf(out, "; %.0f %% of the operation time has no second sample and stands as recorded",
		    100 * c->single_frac);
	putc('\n', out);
}

void replay_notes(const struct recording *rec, const char *file, const struct common *c)
{
	for (size_t i = 0; i < rec->n_notes; i++) {
		const struct rec_note *const note = &rec->notes[i];
		if (note->unit[0])
			common_note(c, "%s: %zu x %s (first at %s %" PRIu64 ")", file, note->count, note->text, note->unit, note->where);
		else
			common_note(c, "%s: %zu x %s", file, note->count, note->text);
	}
}

void replay_report_text(const struct replay_report *r, FILE *out, bool is_verbose)
{
	const size_t most = is_verbose ? r->rec->n_iterations : SHOWN_MAX;
	struct table *const iterations = replay_iterations_table(r, FORMAT_TABLE, most);

	text_head(r->rec, out);
	putc('\n', out);
	table_print(iterations, FORMAT_TABLE, out);
	table_free(iterations);
	if (r->rec->n_iterations > most)
		fprintf(out, "(%zu more: -v)\n", r->rec->n_iterations - most);
	text_phases(r, out);
	if (r->rec->is_timeline)
		text_links(r, out);
	text_check(&r->check, out);
	if (r->n_rows > 0) {
		struct table *const rows = replay_rows_table(r, FORMAT_TABLE);
		fputs("\nwhat if\n", out);
		table_print(rows, FORMAT_TABLE, out);
		table_free(rows);
		if (r->machine[0])
			fprintf(out, "measured in the recording: %s\n", r->machine);
	}
}

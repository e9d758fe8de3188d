/* SPDX-License-Identifier: GPL-3.0-or-later
 * Tables of replay_print.h. */
#include <math.h>

#include "sim/cli/replay_print.h"

static double seconds(int64_t ns)
{
	return (double)ns * 1e-9;
}

static double phase_seconds(const struct rec_iteration *it, enum phase phase)
{
	return it->has_phase[phase] ? seconds(it->phase_ns[phase]) : NAN;
}

static const struct table_column iteration_columns[] = {
    {"iteration", NULL, UNIT_NONE},
    {"iteration_s", "time", UNIT_SECONDS},
    {"forward_s", "forward", UNIT_SECONDS},
    {"backward_s", "backward", UNIT_SECONDS},
    {"update_s", "update", UNIT_SECONDS},
    {"other_s", "other", UNIT_SECONDS},
    {"gpu_busy_frac", "gpu", UNIT_FRAC},
    {"h2d_busy_frac", "h2d", UNIT_FRAC},
    {"d2h_busy_frac", "d2h", UNIT_FRAC},
    {"exposed_s", "exposed", UNIT_SECONDS},
    {"gap_s", "gaps", UNIT_SECONDS},
    /* for programs */
    {"host_busy_frac", "host", UNIT_FRAC},
    {"h2d_bytes", NULL, UNIT_BYTES},
    {"d2h_bytes", NULL, UNIT_BYTES},
    {"h2d_Bps", NULL, UNIT_BYTES_PER_S},
    {"d2h_Bps", NULL, UNIT_BYTES_PER_S},
    {"longest_gap_s", NULL, UNIT_SECONDS},
};
enum { N_ITERATION_COLUMNS = sizeof(iteration_columns) / sizeof(iteration_columns[0]), N_FOR_PEOPLE = 11, N_TIMES = 6 };

static void add_busy(struct table *t, const struct measure *m, bool is_timeline, unsigned lane)
{
	const int64_t total_ns = measure_total_ns(m);
	table_number(t, is_timeline && total_ns > 0 ? (double)measure_busy_ns(m, lane, 0) / (double)total_ns : NAN);
}

static void add_rate(struct table *t, uint64_t bytes, int64_t busy_ns)
{
	table_number(t, bytes > 0 && busy_ns > 0 ? (double)bytes / seconds(busy_ns) : NAN);
}

static void add_iteration(struct table *t, const struct replay_report *r, size_t i, bool is_wide)
{
	const struct rec_iteration *const it = &r->rec->iterations[i];
	const struct measure m = measure_iteration(&r->measures, i);
	const bool is_timeline = r->rec->is_timeline;

	table_integer(t, it->number);
	table_number(t, seconds(it->end_ns - it->start_ns));
	for (enum phase phase = PHASE_FORWARD; phase < PHASE_N; phase++)
		table_number(t, phase_seconds(it, phase));
	if (!is_timeline && !is_wide)
		return;
	add_busy(t, &m, is_timeline, BUSY_COMPUTE);
	add_busy(t, &m, is_timeline, BUSY_H2D);
	add_busy(t, &m, is_timeline, BUSY_D2H);
	table_number(t, is_timeline ? seconds(measure_exposed_ns(&m)) : NAN);
	table_number(t, is_timeline ? seconds(measure_gap_ns(&m)) : NAN);
	if (!is_wide)
		return;
	add_busy(t, &m, is_timeline, BUSY_HOST);
	table_number(t, is_timeline ? (double)m.h2d_bytes : NAN);
	table_number(t, is_timeline ? (double)m.d2h_bytes : NAN);
	add_rate(t, m.h2d_bytes, measure_busy_ns(&m, BUSY_H2D, 0));
	add_rate(t, m.d2h_bytes, measure_busy_ns(&m, BUSY_D2H, 0));
	table_number(t, is_timeline ? seconds(m.longest_gap_ns) : NAN);
}

struct table *replay_iterations_table(const struct replay_report *report, enum format format, size_t most)
{
	const bool is_wide = format != FORMAT_TABLE;
	struct table *const t = table_new(iteration_columns,
	    is_wide                        ? N_ITERATION_COLUMNS
		: report->rec->is_timeline ? N_FOR_PEOPLE
					   : N_TIMES);

	for (size_t i = 0; i < report->rec->n_iterations && i < most; i++)
		add_iteration(t, report, i, is_wide);
	return t;
}

static const struct table_column row_columns[] = {
    {"what", "", UNIT_NONE},
    {"forward_s", "forward", UNIT_SECONDS},
    {"backward_s", "backward", UNIT_SECONDS},
    {"update_s", "update", UNIT_SECONDS},
    {"other_s", "other", UNIT_SECONDS},
    {"iteration_s", "iteration", UNIT_SECONDS},
    {"speedup", NULL, UNIT_NONE},
    {"hw", "machine", UNIT_NONE},
    {"policy", NULL, UNIT_NONE},
};

struct table *replay_rows_table(const struct replay_report *report, enum format format)
{
	struct table *const t = table_new(row_columns, sizeof(row_columns) / sizeof(row_columns[0]));

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct replay_row *const row = &report->rows[i];
		const double speedup = report->rows[0].iteration_s / row->iteration_s;
		table_text(t, row->what);
		table_number(t, row->forward_s);
		table_number(t, row->backward_s);
		table_number(t, row->update_s);
		table_number(t, row->other_s);
		table_number(t, row->iteration_s);
		table_number(t, format == FORMAT_TABLE ? round(speedup * 100) / 100 : speedup);
		table_text(t, row->hw);
		table_text(t, row->policy);
	}
	return t;
}

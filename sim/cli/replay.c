/* SPDX-License-Identifier: GPL-3.0-or-later
 * dos replay: where the time of a recorded run goes, and what it would be otherwise. */
#include <stdlib.h>

#include "model/base/file_text.h"
#include "sim/cli/command.h"
#include "sim/cli/replay_what_if.h"
#include "traces/reader.h"
#include "traces/recording_write.h"

struct params {
	struct what_if_options what_if;
};

static const struct opt opts[] = {
    {.name = "from",
	.kind = OPT_TEXT,
	.offset = offsetof(struct params, what_if.from),
	.arg = "NAME|FILE",
	.help = "profile of the recorded machine (default: the shipped one of its GPU)"},
    {.name = "trace",
	.kind = OPT_TEXT,
	.offset = offsetof(struct params, what_if.trace),
	.arg = "FILE",
	.help = "timeline of the recording, or of the what-if, for Perfetto or .csv"},
};

/* Anything that asks for a simulation. */
static bool is_what_if(const struct common *c, const struct params *p)
{
	return c->hw || c->policies.n > 0 || c->scales.n > 0 || p->what_if.from;
}

static void print_report(const struct replay_report *report, const struct common *c, FILE *out)
{
	switch ((enum format)c->format) {
	case FORMAT_JSON: replay_report_json(report, out); break;
	case FORMAT_CSV: replay_report_csv(report, out); break;
	case FORMAT_TABLE: replay_report_text(report, out, c->is_verbose); break;
	}
}

static int write_out(const struct replay_report *report, const struct common *c, struct arena *arena, struct err *err)
{
	struct file_replace file;

	int code = file_replace_open(&file, c->output, arena, err);
	if (code)
		return code;
	print_report(report, c, file.out);
	return file_replace_commit(&file, err);
}

static int replay(
    const struct common *c, const struct params *p, const struct recording *rec, struct arena *arena, struct err *err)
{
	struct replay_report report = {.rec = rec, .machine = ""};
	int code = common_beside("--trace", p->what_if.trace, c->output, err);

	if (code)
		return code;
	measures_take(&report.measures, rec);
	replay_check_run(&report.check, rec);
	if (is_what_if(c, p))
		code = replay_what_if(&report, c, &p->what_if, arena, err);
	else if (p->what_if.trace)
		code = recording_write(p->what_if.trace, rec, err);
	if (!code)
		code = write_out(&report, c, arena, err);
	measures_release(&report.measures);
	return code;
}

int command_replay(int argc, char **argv, struct err *err)
{
	struct params params = {.what_if = {.from = NULL}};
	const struct command_line line = {.name = "replay",
	    .usage = "TRACE [--hw H] [--policy SPEC[,SPEC..]] [OPTION]..",
	    .about = "Reads a recorded run (PyTorch trace, Nsight Systems sqlite export, DeepSpeed log, dos or dos-probe "
		     "trace; plain or gzip)\n"
		     "and shows where its time goes. With --policy or --hw: what its iterations would take with another "
		     "policy or machine.",
	    .groups =
		COMMON_HW | COMMON_MODEL | COMMON_POLICY | COMMON_BATCH | COMMON_CONTENTION | COMMON_SCALE | COMMON_SYNC,
	    .opts = opts,
	    .n_opts = sizeof(opts) / sizeof(opts[0]),
	    .params = &params};
	struct recording *rec;
	struct arena arena = {0};
	struct common c;
	struct opt_list rest;

	int code = common_parse(&c, &line, argc, argv, &rest, &arena, err);
	if (!code && !c.wants_help && rest.n != 1)
		code = rest.n == 0
		    ? err_set(err, STATUS_USAGE, "replay: a TRACE is missing; see dos replay --help")
		    : err_set(err, STATUS_USAGE, "replay: one TRACE would be accepted, %zu are given", rest.n);
	if (!code && !c.wants_help) {
		rec = xmalloc(1, sizeof(*rec));
		code = recording_load(rec, rest.items[0], err);
		if (!code && c.format != FORMAT_JSON)
			replay_notes(rec, file_text_name(rest.items[0]), &c);
		if (!code)
			code = replay(&c, &params, rec, &arena, err);
		recording_release(rec);
		free(rec);
	}
	arena_release(&arena);
	return code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * The option tables of common.h. */
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/settings.h"

static const char *const on_off_words[] = {"on", "off", NULL};
static const char *const precision_words[] = {"bf16", "fp16", NULL}; /* enum precision */
static const char *const format_words[] = {"table", "json", "csv", NULL}; /* enum format */

#define AT(member) offsetof(struct common, member)
#define COUNT(flag, member, most, text)                                                                                     \
	{                                                                                                                   \
		.name = (flag), .kind = OPT_INT, .offset = AT(member), .min = 1, .max = (most), .arg = "N", .help = (text)  \
	}

static const struct opt hw_opts[] = {
    {.name = "hw", .kind = OPT_TEXT, .offset = AT(hw), .arg = "NAME|FILE", .help = "hardware profile: shipped name or file"},
};
static const struct opt model_opts[] = {
    {.name = "model", .kind = OPT_TEXT, .offset = AT(model), .arg = "NAME|FILE", .help = "preset, or Hugging Face config.json"},
    COUNT("layers", layers, 1e6, "layers"),
    COUNT("hidden", hidden, 1e8, "hidden size"),
    COUNT("heads", heads, 1e7, "attention heads"),
    COUNT("kv-heads", kv_heads, 1e7, "key and value heads (default: heads)"),
    COUNT("ffn", ffn, 1e9, "width of the feed-forward layer"),
    COUNT("vocab", vocab, 1e10, "vocabulary"),
};
static const struct opt policy_opts[] = {
    {.name = "policy", .kind = OPT_LIST, .offset = AT(policies), .arg = "SPEC[,..]", .help = "name[:option=value,..]; may be repeated"},
};
static const struct opt batch_opts[] = {
    COUNT("gpus", gpus, 1e6, "GPUs of a node, one rank each (default: the profile's)"),
    COUNT("nodes", nodes, 1e6, "identical nodes; the profile must know their network (default 1)"),
    COUNT("zero", zero_stage, 3, "ZeRO stage: 1, 2 or 3 (default 3)"),
    COUNT("tp", tp, 1e6, "GPUs that divide every layer among them, tensor parallelism (default 1)"),
    COUNT("mbs", mbs, 1e6, "sequences a GPU and micro-batch (default 1)"),
    COUNT("grad-accum", grad_accum, 1e6, "micro-batches an iteration (default 1)"),
    COUNT("seq", seq, 1e9, "tokens a sequence (default 2048)"),
    {.name = "subgroup", .kind = OPT_NUMBER, .unit = UNIT_PARAMS, .offset = AT(subgroup_params), .min = 1, .max = 1e15, .arg = "S",
        .help = "parameters of a subgroup of one rank (default 100M)"},
    COUNT("n-subgroups", n_subgroups, 2e7, "an update alone, of N equal subgroups"),
    COUNT("threads", threads, 4096, "CPU Adam threads of a rank (default: the profile's)"),
    COUNT("workers", workers, 4096, "downscale threads of a rank, where the policy has workers"),
    {.name = "checkpointing", .kind = OPT_WORD, .offset = AT(checkpointing), .words = on_off_words, .fallback = "on",
        .arg = "on|off", .help = "recompute activations in backward", .given_offset = AT(has_checkpointing)},
    {.name = "precision", .kind = OPT_WORD, .offset = AT(precision), .words = precision_words,
        .arg = "bf16|fp16", .help = "16-bit format (default: the model file's, else bf16)", .given_offset = AT(has_precision)},
};
static const struct opt limit_opts[] = {
    {.name = "gpu-mem", .kind = OPT_NUMBER, .unit = UNIT_BYTES, .offset = AT(gpu_mem_bytes), .min = 1, .max = 1e15, .arg = "BYTES",
        .help = "memory of one GPU, such as 24GiB (default: the profile's)"},
    {.name = "host-mem", .kind = OPT_NUMBER, .unit = UNIT_BYTES, .offset = AT(host_mem_bytes), .min = 1, .max = 1e18, .arg = "BYTES",
        .help = "host memory of the node (default: the profile's)"},
    {.name = "pinned-max", .kind = OPT_NUMBER, .unit = UNIT_BYTES, .offset = AT(pinned_max_bytes), .min = 1, .max = 1e18,
        .arg = "BYTES", .help = "most of it that may be pinned (default: the profile's)"},
};
static const struct opt contention_opts[] = {
    {.name = "contention", .kind = OPT_TEXT, .offset = AT(contention), .fallback = "fluid", .arg = "none|fluid|measured",
        .help = "how resources are shared"},
};
static const struct opt scale_opts[] = {
    {.name = "scale", .kind = OPT_LIST, .offset = AT(scales), .arg = "RES=F[,..]",
        .help = "what if: cpu dram h2d d2h duplex gpu hbm cores net times F (PCIe: h2d d2h duplex)"},
};
static const struct opt sync_opts[] = {
    {.name = "sync", .kind = OPT_WORD, .offset = AT(sync), .words = sync_names, .fallback = "phase", .arg = "phase|all",
        .help = "what the main thread waits for at the end of a phase"},
};
static const struct opt uncertainty_opts[] = {
    {.name = "uncertainty", .kind = OPT_INT, .offset = AT(uncertainty), .min = 0, .max = 1e4, .arg = "N", .bare = "200",
        .given_offset = AT(has_uncertainty), .help = "90 % intervals, from N draws of the profile and the model's errors on other machines; 0: none"},
    {.name = "seed", .kind = OPT_INT, .offset = AT(seed), .min = 0, .max = 0x1p53, .fallback = "1", .arg = "N", .help = "of the draws"},
};
static const struct opt output_opts[] = {
    {.name = "format", .kind = OPT_WORD, .offset = AT(format), .words = format_words, .fallback = "table", .arg = "FORMAT",
        .help = "of the result"},
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .offset = AT(output), .arg = "FILE", .help = "write the result there"},
    {.name = "config", .kind = OPT_TEXT, .offset = AT(config), .arg = "FILE", .help = "values of options, as JSON; see dos config"},
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .offset = AT(is_quiet), .help = "no remarks on standard error"},
    {.name = "verbose", .letter = 'v', .kind = OPT_FLAG, .offset = AT(is_verbose), .help = "more remarks, more detail in tables"},
    {.name = "no-color", .kind = OPT_FLAG, .offset = AT(has_no_color), .help = "plain text (also NO_COLOR, TERM=dumb)"},
    {.name = "help", .letter = 'h', .kind = OPT_FLAG, .offset = AT(wants_help), .help = "this text"},
};

static const struct group {
	enum common_group bit;
	const struct opt *opts;
	size_t n_opts;
	const char *title;
} groups[] = {
#define GROUP(bit, opts, title) {bit, opts, sizeof(opts) / sizeof((opts)[0]), title}
    GROUP(COMMON_HW, hw_opts, "Machine:"),
    GROUP(COMMON_LIMITS, limit_opts, NULL),
    GROUP(COMMON_MODEL, model_opts, "Model (a flag overrides the preset):"),
    GROUP(COMMON_POLICY, policy_opts, "Policy:"),
    GROUP(COMMON_BATCH, batch_opts, "Batch and partition:"),
    GROUP(COMMON_CONTENTION, contention_opts, "Simulation:"),
    GROUP(COMMON_SCALE, scale_opts, NULL),
    GROUP(COMMON_SYNC, sync_opts, NULL),
    GROUP(COMMON_UNCERTAINTY, uncertainty_opts, "Uncertainty:"),
    GROUP(COMMON_OUTPUT, output_opts, "Output:"),
#undef GROUP
};
enum { N_GROUPS = sizeof(groups) / sizeof(groups[0]), TABLES_MAX = N_GROUPS + 1 };

const struct opt *common_opts(enum common_group group, size_t *n_opts)
{
	size_t i = 0;

	while (groups[i].bit != group)
		i++;
	*n_opts = groups[i].n_opts;
	return groups[i].opts;
}

/* The command's own options first. */
static size_t list_tables(struct opt_table tables[TABLES_MAX], struct common *c, const struct command_line *line)
{
	size_t n = 0;

	if (line->n_opts)
		tables[n++] = (struct opt_table){line->params, line->opts, line->n_opts, "Options:"};
	for (size_t i = 0; i < N_GROUPS; i++)
		if ((line->groups | COMMON_OUTPUT) & groups[i].bit)
			tables[n++] = (struct opt_table){c, groups[i].opts, groups[i].n_opts, groups[i].title};
	return n;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* Set while a command is asked for its options: a command has no argument for it. */
static const struct common_visitor *visitor;

void common_describe(const struct command *command, const struct common_visitor *to)
{
	char name[64];
	char *argv[] = {name, NULL};
	struct err err;

	snprintf(name, sizeof(name), "%s", command->name);
	visitor = to;
	command->run(1, argv, &err);
	visitor = NULL;
}

/* What the command line does not say. */
static int use_settings(const struct common *c, const struct command_line *line, const struct opt_table *tables, size_t n_tables,
    const struct opt_list *seen, struct arena *arena, struct err *err)
{
	struct descriptions all;
	struct settings settings;

	describe_commands(&all, arena);
	if (settings_load(&settings, c->config, &all, arena, err))
		return err->code;
	return settings_apply(&settings, line->name, tables, n_tables, seen, arena, err);
}

/* --stride 4, where it is no axis of a sweep: the policy that has it, NULL for none. */
static const struct policy *policy_with(const char *name, size_t length)
{
	for (size_t i = 0; policy_all[i]; i++)
		if (opt_find(policy_all[i]->opts, policy_all[i]->n_opts, name, length))
			return policy_all[i];
	return NULL;
}

static bool is_known(const struct opt_table *tables, size_t n_tables, const char *name, size_t length)
{
	for (size_t i = 0; i < n_tables; i++)
		if (opt_find(tables[i].opts, tables[i].n_opts, name, length))
			return true;
	return false;
}

/* Replaces "unknown option" where a policy has the option. */
static int explain_option(const struct opt_table *tables, size_t n_tables, int argc, char **argv, struct err *err)
{
	for (int i = 1; i < argc && strncmp(err->text, "unknown option '--", 18) == 0; i++) {
		const char *const name = argv[i] + 2;
		const size_t length = strncmp(argv[i], "--", 2) == 0 ? strcspn(name, "=") : 0;
		const struct policy *const policy = length > 0 && strncmp(err->text + 18, name, length) == 0 && err->text[18 + length] == '\'' ?
		    policy_with(name, length) : NULL;
		if (policy && !is_known(tables, n_tables, name, length))
			return err_set(err, STATUS_USAGE, "--%.*s is an option of a policy; --policy %s:%.*s=.. would be accepted", (int)length, name,
			    policy->name, (int)length, name);
	}
	return err->code;
}

int common_parse(struct common *c, const struct command_line *line, int argc, char **argv, struct opt_list *rest,
    struct arena *arena, struct err *err)
{
	struct opt_table tables[TABLES_MAX];
	struct opt_list seen, arguments = {0};

	*c = (struct common){0};
	const size_t n_tables = list_tables(tables, c, line);
	if (visitor) {
		visitor->visit(visitor->context, line, tables, n_tables);
		c->wants_help = true;
		return 0;
	}
	if (asks_for_help(argc, argv)) {
		printf("usage: dos %s %s\n\n%s\n\n", line->name, line->usage, line->about);
		opt_help(tables, n_tables, stdout);
		c->wants_help = true;
		return 0;
	}
	for (size_t i = 0; i < n_tables; i++)
		opt_defaults(tables[i].params, tables[i].opts, tables[i].n_opts, arena);
	if (opt_parse_argv_seen(tables, n_tables, argc, argv, &arguments, &seen, arena, err) && explain_option(tables, n_tables, argc, argv, err))
		return err_wrap(err, "%s", line->name);
	const int code = use_settings(c, line, tables, n_tables, &seen, arena, err);
	if (!code && c->uncertainty == 1)
		return err_set(err, STATUS_USAGE, "%s: uncertainty: '1' is no sample; 0 for none, or 2 to 10000 would be accepted", line->name);
	if (rest)
		*rest = arguments;
	else if (!code && arguments.n > 0)
		return err_set(err, STATUS_USAGE, "%s: unexpected argument '%s'", line->name, arguments.items[0]);
	return code;
}

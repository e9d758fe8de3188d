/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/opt.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test_util.h"

Suite *opt_suite(void);

struct params {
	long long stride;
	double ratio_frac;
	int chain;
	bool verbose;
	const char *output;
	struct opt_list hw;
	bool stride_given;
	double offset;
};

static const char *const chains[] = {"published", "serial", "duplex", NULL};

static const struct opt opts[] = {
    {.name = "stride", .letter = 'k', .kind = OPT_INT, .offset = offsetof(struct params, stride), .min = 1, .max = 1e9,
	.arg = "N", .help = "every Nth subgroup", .given_offset = offsetof(struct params, stride_given)},
    {.name = "ratio", .kind = OPT_NUMBER, .unit = UNIT_FRAC, .offset = offsetof(struct params, ratio_frac), .min = 0, .max = 1,
	.fallback = "25%", .arg = "F", .help = "static share"},
    {.name = "chain", .kind = OPT_WORD, .offset = offsetof(struct params, chain), .words = chains, .fallback = "duplex",
	.help = "order of copies"},
    {.name = "verbose", .letter = 'v', .kind = OPT_FLAG, .offset = offsetof(struct params, verbose), .help = "say more"},
    {.name = "output", .letter = 'o', .kind = OPT_TEXT, .offset = offsetof(struct params, output), .arg = "FILE",
	.help = "where to"},
    {.name = "hw", .kind = OPT_LIST, .offset = offsetof(struct params, hw), .arg = "H", .help = "machine"},
    {.name = "offset", .kind = OPT_NUMBER, .offset = offsetof(struct params, offset), .min = -10, .max = INFINITY,
	.help = "may be negative"},
};
enum { N_OPTS = N_ELEMENTS(opts) };

static struct arena arena; /* of the test at hand: tests run in processes of their own */
static struct params params;
static struct opt_list rest;
static struct err err;

static void start(void)
{
	opt_defaults(&params, opts, N_OPTS, &arena);
}

static void finish(void)
{
	arena_release(&arena);
}

/* Parses the words of a line separated by spaces. */
static int parse_line(const char *line)
{
	const struct opt_table table = {&params, opts, N_OPTS, "Options"};
	char *argv[32] = {arena_strdup(&arena, "dos")}, *save = NULL;
	int argc = 1;

	for (char *word = strtok_r(arena_strdup(&arena, line), " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	return opt_parse_argv(&table, 1, argc, argv, &rest, &arena, &err);
}

START_TEST(defaults)
{
	ck_assert_double_eq(params.ratio_frac, 0.25);
	ck_assert_int_eq(params.chain, 2);
	ck_assert_int_eq((int)params.stride, 0);
	ck_assert(!params.stride_given);
	ck_assert_ptr_null(params.output);
}
END_TEST

START_TEST(argv)
{
	ck_assert_msg(parse_line("a --stride 2 --ratio=50% -v -oout.json --hw x --hw=y,z --chain serial - --offset -3.5 "
				 "-- --b") == 0, "%s", err.text);
	ck_assert_int_eq((int)params.stride, 2);
	ck_assert(params.stride_given);
	ck_assert_double_eq(params.ratio_frac, 0.5);
	ck_assert_int_eq(params.chain, 1);
	ck_assert(params.verbose);
	ck_assert_str_eq(params.output, "out.json");
	ck_assert_uint_eq(params.hw.n, 2);
	ck_assert_str_eq(params.hw.items[1], "y,z");
	ck_assert_double_eq(params.offset, -3.5);
	ck_assert_uint_eq(rest.n, 3);
	ck_assert_str_eq(rest.items[0], "a");
	ck_assert_str_eq(rest.items[1], "-");
	ck_assert_str_eq(rest.items[2], "--b");
}
END_TEST

static const struct {
	const char *line;
	int output_is; /* 1: "f", 2: "-" */
} letter_lines[] = {{"-o f", 1}, {"-of", 1}, {"-vof", 1}, {"-vo f", 1}, {"-o -", 2}, {"--output -", 2}, {"--output=f", 1}};

START_TEST(letters)
{
	ck_assert_msg(parse_line(letter_lines[_i].line) == 0, "%s", err.text);
	ck_assert_str_eq(params.output, letter_lines[_i].output_is == 1 ? "f" : "-");
}
END_TEST

static const struct {
	const char *line, *want;
} bad_lines[] = {
    {"--strid 2", "unknown option '--strid'; did you mean '--stride'?"},
    {"--zzzzzzzzzzzz", "unknown option '--zzzzzzzzzzzz'; see --help"},
    {"-x", "unknown option '-x'"},
    {"--stride", "--stride: a value is missing: N"},
    {"--stride --verbose", "--stride: a value is missing"},
    {"-k", "--stride: a value is missing"},
    {"--stride 0", "stride: '0' is out of range; 1 to 1000000000 would be accepted"},
    {"--stride 2.5", "stride: '2.5' is not a whole number"},
    {"--stride -2", "stride: '-2' is out of range; 1 to 1000000000 would be accepted"},
    {"--stride two", "stride: 'two' is not a number"},
    {"--stride 2 -k 3", "--stride: given twice"},
    {"--ratio 1.5", "ratio: '1.5' is out of range; 0 to 1 would be accepted"},
    {"--offset -11", "at least -10 would be accepted"},
    {"--chain dupex", "chain: 'dupex' is not published, serial or duplex; did you mean 'duplex'?"},
    {"--chain xxxxxxxxx", "chain: 'xxxxxxxxx' is not published, serial or duplex"},
    {"--verbose=maybe", "verbose: 'maybe' is not on or off"},
    {"--=3", "unknown option '--'"},
};

START_TEST(bad_argv)
{
	ck_assert_int_eq(parse_line(bad_lines[_i].line), STATUS_USAGE);
	assert_has(err.text, bad_lines[_i].want);
}
END_TEST

START_TEST(help)
{
	const struct opt_table tables[] = {{&params, opts, 4, "Policy"}, {&params, opts + 4, 2, "Shared"}};
	char *text;
	size_t n_bytes;
	FILE *const out = open_memstream(&text, &n_bytes);

	opt_help(tables, 2, out);
	fclose(out);
	ck_assert_str_eq(text, "Policy\n"
			       "  -k, --stride N     every Nth subgroup\n"
			       "      --ratio F      static share (default 25%)\n"
			       "      --chain WORD   order of copies (published, serial or duplex; default duplex)\n"
			       "  -v, --verbose      say more\n"
			       "\nShared\n"
			       "  -o, --output FILE  where to\n"
			       "      --hw H         machine\n");
	free(text);
}
END_TEST

static const struct {
	const char *text, *want; /* single SPECs with a space between */
} splits[] = {
    {"dos", "dos"},
    {"dos:stride=2,chain=duplex,zero3-offload", "dos:stride=2,chain=duplex zero3-offload"},
    {"dos,stride=2,chain=serial", "dos:stride=2,chain=serial"},
    {"a,b:x=1,c,y=2", "a b:x=1 c:y=2"},
    {"dos:stride=1..8:2,twinflow:ratio=0.1;0.2", "dos:stride=1..8:2 twinflow:ratio=0.1;0.2"},
    {"dos:stride=2,dos:stride=3", "dos:stride=2 dos:stride=3"},
};

static const char *join(const struct opt_list *list)
{
	const char *text = "";

	for (size_t i = 0; i < list->n; i++)
		text = arena_printf(&arena, "%s%s%s", text, i ? " " : "", list->items[i]);
	return text;
}

START_TEST(split_specs)
{
	struct opt_list specs = {0};

	ck_assert_msg(spec_split(&specs, splits[_i].text, &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(join(&specs), splits[_i].want);
}
END_TEST

START_TEST(split_adds_to_a_list)
{
	struct opt_list specs = {0};

	ck_assert_int_eq(spec_split(&specs, "a:x=1", &arena, &err), 0);
	ck_assert_int_eq(spec_split(&specs, "b", &arena, &err), 0);
	ck_assert_str_eq(join(&specs), "a:x=1 b");
	ck_assert_int_eq(spec_split(&specs, "y=2", &arena, &err), STATUS_USAGE); /* belongs to no policy of this text */
}
END_TEST

static const char *const bad_splits[] = {"", ",", "dos,", ",dos", "stride=2", "dos,,hybrid", ":stride=2"};

START_TEST(bad_split)
{
	struct opt_list specs = {0};

	ck_assert_int_eq(spec_split(&specs, bad_splits[_i], &arena, &err), STATUS_USAGE);
}
END_TEST

static const struct {
	const char *text, *want; /* canonical text, or the message */
	bool fails;
} specs_applied[] = {
    {"dos", "dos:ratio=0.25,chain=duplex,verbose=off,offset=0", false},
    {"dos:stride=2", "dos:stride=2,ratio=0.25,chain=duplex,verbose=off,offset=0", false},
    {"dos:chain=serial,stride=1k,ratio=10%", "dos:stride=1000,ratio=0.1,chain=serial,verbose=off,offset=0", false},
    {"dos:verbose=on,output=x,hw=a", "dos:ratio=0.25,chain=duplex,verbose=on,output=x,hw=a,offset=0", false},
    {"dos:strid=2", "policy dos: unknown option 'strid'; did you mean 'stride'?", true},
    {"dos:zzzzzzz=2", "policy dos: unknown option 'zzzzzzz'; accepted: stride, ratio, chain", true},
    {"dos:stride=2,stride=3", "policy dos: stride: given twice", true},
    {"dos:stride=x", "policy dos: stride: 'x' is not a number", true},
    {"dos:stride=", "policy dos: 'stride=' is not option=value", true},
    {"dos:stride", "policy dos: 'stride' is not option=value", true},
    {"dos:=2", "policy dos: '=2' is not option=value", true},
    {"dos:", "policy dos: '' is not option=value", true},
    {":a=1", "name[:option=value", true},
    {"a=1", "name[:option=value", true},
};

START_TEST(spec)
{
	struct spec parsed;
	int rc = spec_parse(&parsed, specs_applied[_i].text, &arena, &err);

	if (rc == 0)
		rc = spec_apply(&params, opts, N_OPTS, &parsed, &arena, &err);
	ck_assert_int_eq(rc, specs_applied[_i].fails ? STATUS_USAGE : STATUS_OK);
	if (specs_applied[_i].fails)
		assert_has(err.text, specs_applied[_i].want);
	else
		ck_assert_str_eq(spec_canonical("dos", &params, opts, N_OPTS, &arena), specs_applied[_i].want);
}
END_TEST

START_TEST(canonical_reads_back)
{
	struct spec parsed;
	struct params again = {0};

	ck_assert_int_eq(spec_parse(&parsed, "dos:stride=3,ratio=0.1,chain=serial", &arena, &err), 0);
	ck_assert_int_eq(spec_apply(&params, opts, N_OPTS, &parsed, &arena, &err), 0);
	const char *const text = spec_canonical("dos", &params, opts, N_OPTS, &arena);
	ck_assert_int_eq(spec_parse(&parsed, text, &arena, &err), 0);
	ck_assert_int_eq(spec_apply(&again, opts, N_OPTS, &parsed, &arena, &err), 0);
	ck_assert_str_eq(spec_canonical("dos", &again, opts, N_OPTS, &arena), text);
	ck_assert_str_eq(spec_canonical("null", NULL, NULL, 0, &arena), "null");
}
END_TEST

static const struct {
	const char *text;
	char separator;
	const char *want;
} expansions[] = {
    {"3", ',', "3"},
    {"a,b", ',', "a b"},
    {"1;2;5", ';', "1 2 5"},
    {"a,b", ';', "a,b"},
    {"1..4", ',', "1 2 3 4"},
    {"1..8:3,9", ',', "1 4 7 9"},
    {"0.1..0.5:0.1", ',', "0.1 0.2 0.3 0.4 0.5"},
    {"2..2", ',', "2"},
    {"1M..3M", ',', "1M 2M 3M"},
    {"16GiB..48GiB:16GiB", ',', "16GiB 32GiB 48GiB"},
    {"500k..2M:500k", ',', "500000 1000000 1500000 2000000"},
    {"1e8..3e8:1e8", ',', "100000000 200000000 300000000"},
    {"10%..30%:10%", ',', "10% 20% 30%"},
    {"../a.json,./b..c", ',', "../a.json ./b..c"},
};

START_TEST(expand)
{
	struct opt_list values = {0};

	ck_assert_msg(opt_expand(&values, expansions[_i].text, expansions[_i].separator, &arena, &err) == 0, "%s", err.text);
	ck_assert_str_eq(join(&values), expansions[_i].want);
}
END_TEST

static const struct {
	const char *text, *want;
} bad_expansions[] = {
    {"", "a value is empty"}, {"1,,2", "a value is empty"}, {"1,", "a value is empty"}, {"4..1", "upwards"},
    {"1..4:0", "upwards"}, {"1..x", "range '1..x': "}, {"1..", "range '1..': "}, {"1..4:", "range '1..4:': "},
    {"1..4:-1", "range '1..4:-1': "}, {"0..1e7", "more than 1000000 values"}, {"1..4..8", "range '1..4..8': "},
    {"0x1..0x4", "range '0x1..0x4': "}, {"1..1e999", "range '1..1e999': "}, {"1GiB..4MB", "range '1GiB..4MB': "},
};

START_TEST(bad_expand)
{
	struct opt_list values = {0};

	ck_assert_int_eq(opt_expand(&values, bad_expansions[_i].text, ',', &arena, &err), STATUS_USAGE);
	assert_has(err.text, bad_expansions[_i].want);
}
END_TEST

START_TEST(largest_expansion)
{
	struct opt_list values = {0};

	ck_assert_int_eq(opt_expand(&values, "1..1e6", ',', &arena, &err), 0);
	ck_assert_uint_eq(values.n, 1000000);
	ck_assert_str_eq(values.items[999999], "1000000");
}
END_TEST

START_TEST(whole_numbers_are_exact)
{
	static const struct opt wide = {.name = "n", .kind = OPT_INT, .offset = 0, .min = 0, .max = INFINITY};
	long long value = 0;

	ck_assert_int_eq(opt_set(&value, &wide, "9007199254740992", &arena, &err), 0);
	ck_assert_int_eq(value, 9007199254740992LL);
	ck_assert_int_eq(opt_set(&value, &wide, "1e17", &arena, &err), STATUS_USAGE);
	assert_has(err.text, "2^53");
}
END_TEST

static void add_core(TCase *core)
{
	tcase_add_test(core, defaults);
	tcase_add_test(core, argv);
	tcase_add_loop_test(core, letters, 0, (int)N_ELEMENTS(letter_lines));
	tcase_add_test(core, help);
	tcase_add_loop_test(core, split_specs, 0, (int)N_ELEMENTS(splits));
	tcase_add_test(core, split_adds_to_a_list);
	tcase_add_loop_test(core, spec, 0, (int)N_ELEMENTS(specs_applied));
	tcase_add_test(core, canonical_reads_back);
	tcase_add_loop_test(core, expand, 0, (int)N_ELEMENTS(expansions));
}

Suite *opt_suite(void)
{
	Suite *const suite = suite_create("opt");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits"), *const errors = tcase_create("errors");

	add_core(core);
	tcase_add_test(limits, largest_expansion);
	tcase_add_test(limits, whole_numbers_are_exact);
	tcase_add_loop_test(errors, bad_argv, 0, (int)N_ELEMENTS(bad_lines));
	tcase_add_loop_test(errors, bad_split, 0, (int)N_ELEMENTS(bad_splits));
	tcase_add_loop_test(errors, bad_expand, 0, (int)N_ELEMENTS(bad_expansions));
	tcase_add_checked_fixture(core, start, finish);
	tcase_add_checked_fixture(limits, start, finish);
	tcase_add_checked_fixture(errors, start, finish);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, errors);
	return suite;
}

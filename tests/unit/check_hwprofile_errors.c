/* SPDX-License-Identifier: GPL-3.0-or-later
 * Profiles that are refused, and what the message says. */
#include "model/hwprofile.h"

#include "tests/unit/test_util.h"

static const char tiny_path[] = "tests/data/tiny.json"; /* tests run in the root of the tree */
static char tiny[8192];
static struct arena arena;
static struct hwprofile hw;
static struct err err;

static void setup(void)
{
	FILE *const file = fopen(tiny_path, "r");

	ck_assert_ptr_nonnull(file);
	tiny[fread(tiny, 1, sizeof(tiny) - 1, file)] = '\0';
	fclose(file);
}

static void teardown(void)
{
	arena_release(&arena);
}

/* tiny.json with its first `from` replaced by `to` */
static const char *tiny_with(const char *from, const char *to)
{
	const char *const at = strstr(tiny, from);

	ck_assert_msg(at != NULL, "tiny.json has no %s", from);
	return arena_printf(&arena, "%.*s%s%s", (int)(at - tiny), tiny, to, at + strlen(from));
}

static int parse(const char *text)
{
	return hwprofile_parse(&hw, "t.json", text, strlen(text), &arena, &err);
}

/* ---- what is refused, and what the message says */

static const struct {
	const char *from, *to, *message;
} refused[] = {
    /* the top */
    {"dos-hwprofile/1", "dos-hwprofile/2", "t.json: /schema: \"dos-hwprofile/2\""},
    {"\"schema\": \"dos-hwprofile/1\",", "", "\"schema\" is missing"},
    {"\"name\": \"tiny\",", "", "\"name\" is missing"},
    {"\"name\": \"tiny\"", "\"name\": \"\"", "/name: is empty"},
    {"\"name\": \"tiny\"", "\"name\": 5", "/name: a string is expected"},
    {"round numbers for tests, no machine", "%300s", "/summary: "},
    {"\"summary\"", "\"sumary\"", "/sumary: unknown key; did you mean \"summary\"?"},
    {"\"node\": {", "\"nodes\": {", "/nodes: unknown key; did you mean \"node\"?"},
    /* provenance */
    {"\"tool\"", "\"tol\"", "/provenance/tol: unknown key; did you mean \"tool\"?"},
    {"\"tool\": \"by hand\"", "\"tool\": 1", "/provenance/tool: a string is expected"},
    {"[\"row-1\", \"row-2\"]", "[\"row-1\", 2]", "/provenance/fitted_on/1: a string is expected"},
    {"[\"row-1\", \"row-2\"]", "\"row-1\"", "/provenance/fitted_on: an array is expected"},
    {"\"complete\": true", "\"complete\": 1", "/provenance/complete: true or false is expected"},
    /* node */
    {"\"gpus\": 2,", "", "/node: \"gpus\" is missing"},
    {"\"gpus\": 2,", "\"gpus\": 2.5,", "/node/gpus: 2.5: a whole number"},
    {"\"gpus\": 2,", "\"gpus\": -2,", "/node/gpus: -2 is outside 1 .. 1024"},
    {"\"gpus\": 2,", "\"gpus\": 1e9,", "/node/gpus: 1000000000 is outside"},
    {"\"gpus\": 2,", "\"gpus\": \"2\",", "/node/gpus: a number is expected, this is a string"},
    {"\"gpus\": 2,", "\"gpus\": null,", "/node/gpus: a number is expected, this is null"},
    {"\"gpus\": 2,", "\"gpus\": NaN,", "t.json:"},
    {"\"gpus\": 2,", "\"gpus\": 1e999,", "t.json:"},
    {"\"gpus\": 2,", "\"gpus\": 02,", "t.json:"},
    {"\"gpus\": 2,", "\"gpus\": 2, \"gpus\": 2,", "/node/gpus: this key stands twice"},
    {"\"threads\": 8", "\"thread\": 8", "/node/thread: unknown key; did you mean \"threads\"?"},
    {"\"threads\": 8", "\"threads\": 17", "/node/threads: 17 is more than /node/hw_threads_per_rank, 16"},
    {"\"spin_wait\": 0", "\"spin_wait\": true", "/node/spin_wait: a number is expected"},
    {"\"ranks_per_core_set\": 1", "\"ranks_per_core_set\": 4", "/node/ranks_per_core_set: 4 is more than /node/gpus, 2"},
    {"\"gpus_per_pcie_root\": 1", "\"gpus_per_pcie_root\": 4", "/node/gpus_per_pcie_root: 4 is more than /node/gpus, 2"},
    /* values */
    {"\"gpu_memory_bytes\": 80e9,", "", "/values: \"gpu_memory_bytes\" is missing"},
    {"\"gpu_memory_bytes\"", "\"gpu_memory_byte\"", "did you mean \"gpu_memory_bytes\"?"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": -1", "/values/gpu_memory_bytes: -1 is outside"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 1e300", "/values/gpu_memory_bytes: "},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 80e9, \"dram_latency_Bps\": 1e-300",
	"/values/dram_latency_Bps: 1e-300; 0, or from 1000000 to 1e+16, would be accepted"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 80e9, \"network_Bps\": 0.5",
	"/values/network_Bps: 0.5; 0, or from 1 to 1e+16, would be accepted"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 80e9, \"h2d_weight\": 1e-30",
	"/values/h2d_weight: 1e-30; 0, or from 0.01 to 100, would be accepted"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 80e9, \"d2h_weight\": 0.009",
	"/values/d2h_weight: 0.009; 0, or from 0.01 to 100, would be accepted"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": 80e9, \"adam_downscale_corun_frac\": 1e-09",
	"/values/adam_downscale_corun_frac: 1e-09; 0, or from 0.001 to 1, would be accepted"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": \"80GB\"", "/values/gpu_memory_bytes: a number is expected"},
    {"\"gpu_memory_bytes\": 80e9", "\"gpu_memory_bytes\": [80e9]", "/values/gpu_memory_bytes: a number is expected"},
    {"{\"value\": 200e9,", "{", "/values/dram_Bps: \"value\" is missing"},
    {"{\"value\": 200e9,", "{\"value\": 0,", "/values/dram_Bps/value: 0 is outside"},
    {"{\"value\": 200e9,", "{\"vaule\": 200e9,", "/values/dram_Bps/vaule: unknown key; did you mean \"value\"?"},
    {"\"kind\": \"measured\"", "\"kind\": \"guessed\"", "measured, fitted, datasheet or assumed"},
    {"\"kind\": \"measured\"", "\"kind\": \"default\"", "measured, fitted, datasheet or assumed"},
    {"\"kind\": \"measured\"", "\"kind\": 1", "/values/dram_Bps/kind: a string is expected"},
    {"\"lo\": 190e9,", "", "\"lo\" is missing"},
    {"\"lo\": 190e9,", "\"lo\": 201e9,", "/values/dram_Bps: value 2e+11 is not between lo"},
    {"\"hi\": 210e9,", "\"hi\": 199e9,", "/values/dram_Bps: value 2e+11 is not between lo"},
    {"\"hi\": 210e9,", "\"hi\": 1e99,", "/values/dram_Bps/hi"},
    {"195e9, 200e9,", "195e9, -200e9,", "/values/dram_Bps/samples/1: "},
    {"[195e9, 200e9, 205e9]", "195e9", "/values/dram_Bps/samples: an array is expected"},
    {"\"source\": \"peak\"", "\"source\": {}", "/values/gpu_flop_per_s/source: a string is expected"},
    {"\"smt_gain\": {\"value\": 1.25", "\"smt_gain\": {\"value\": 2.5",
	"/values/smt_gain: 2.5 is more than /node/threads_per_core"},
    {"\"h2d_duplex_Bps\": {\"value\": 40e9, \"kind\": \"measured\", \"lo\": 38e9, \"hi\": 42e9}",
	"\"h2d_duplex_Bps\": 52e9", "/values/h2d_duplex_Bps: 5.2e+10 is above the one-way peak 5e+10 of /curves/h2d"},
    {"\"d2h_duplex_Bps\": {\"value\": 40e9, \"kind\": \"measured\", \"lo\": 38e9, \"hi\": 42e9}",
	"\"d2h_duplex_Bps\": 52e9", "/values/d2h_duplex_Bps: 5.2e+10 is above the one-way peak 5e+10 of /curves/d2h"},
    /* curves */
    {"\"cpu_adam\": {\"kind\": \"measured\", \"points\": [[1, 0.5e9], [8, 3e9], [16, 4e9]]},", "",
	"\"cpu_adam\" is missing"},
    {"\"cpu_downscale\"", "\"cpu_downscal\"", "/curves/cpu_downscal: unknown key; did you mean \"cpu_downscale\"?"},
    {"\"cpu_adam\": {", "\"cpu_adam\": {\"unit\": 1, ", "/curves/cpu_adam/unit: unknown key"},
    {"\"points\": [[1, 1e9], [8, 6e9]]", "\"points\": []", "/curves/cpu_downscale/points: 0 points; 1 to 64"},
    {"\"points\": [[1, 1e9], [8, 6e9]]", "\"points\": 6e9", "/curves/cpu_downscale/points: an array is expected"},
    {"{\"points\": [[1, 1e9], [8, 6e9]]}", "[[1, 1e9], [8, 6e9]]", "/curves/cpu_downscale: an object is expected"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 1e9], [8]]", "/curves/cpu_downscale/points/1: a pair [x, rate]"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 1e9], 8]", "/curves/cpu_downscale/points/1: a pair [x, rate]"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 1e9], [1, 6e9]]", "/curves/cpu_downscale/points/1: x = 1 after 1; x must increase"},
    {"[[1, 1e9], [8, 6e9]]", "[[8, 1e9], [1, 6e9]]", "/curves/cpu_downscale/points/1: x = 1 after 8; x must increase"},
    {"[[1, 1e9], [8, 6e9]]", "[[0, 1e9], [8, 6e9]]", "/curves/cpu_downscale/points/0/0: 0 is outside"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 0], [8, 6e9]]", "/curves/cpu_downscale/points/0/1: 0 is outside"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 1e9], [5000, 6e9]]", "/curves/cpu_downscale/points/1/0: 5000 is outside"},
    {"[[1, 1e9], [8, 6e9]]", "[[1, 1e9], [8, \"6e9\"]]", "/curves/cpu_downscale/points/1/1: a number is expected"},
    /* contention grid */
    {"\"first\": \"cpu_adam\"", "\"first\": \"cpu\"", "/corun/0/first: \"cpu\": cpu_adam, cpu_downscale"},
    {"\"first\": \"cpu_adam\"", "\"first\": \"%300s\"", "/corun/0/first: "},
    {"\"first\": \"cpu_adam\",", "", "\"first\" is missing"},
    {"\"first_alone\": 3e9,", "", "\"first_alone\" is missing"},
    {"\"first_alone\": 3e9,", "\"first_alone\": -3e9,", "/corun/0/first_alone: "},
    {"\"first_alone\": 3e9,", "\"first_alone\": 0,", "/corun/0/first_alone: 0 is outside 1e-06 .. 1e+18"},
    {"\"first_alone\": 3e9,", "\"first_alone\": 1e18,", "/corun/0/first_together: "},
    {"\"second_together\": 45e9", "\"second_together\": 49e6", "/corun/0/second_together: 49000000 is outside 50000000 .. 1e+18"},
    {"\"first_threads\": 8", "\"first_thread\": 8", "/corun/0/first_thread: unknown key; did you mean \"first_threads\"?"},
    {"\"corun\": [", "\"corun\": [7, ", "/corun/0: an object is expected"},
};

START_TEST(refused_changes)
{
	const char *const is_long = strstr(refused[_i].to, "%300s");
	const char *const prefix =
	    arena_printf(&arena, "%.*s", is_long ? (int)(is_long - refused[_i].to) : 0, refused[_i].to);
	const char *const to = is_long ? arena_printf(&arena, "%s%300s%s", prefix, "x", is_long + 5) : refused[_i].to;

	ck_assert_int_eq(parse(tiny_with(refused[_i].from, to)), STATUS_INPUT);
	assert_has(err.text, refused[_i].message);
	assert_has(err.text, "t.json");
}
END_TEST

/* Every prefix of a good file is a bad file. */
START_TEST(truncated)
{
	const size_t length = strlen(tiny) - 2; /* the last brace and newline */

	for (size_t n = 0; n <= length; n += n < length - 7 ? 7 : 1)
		ck_assert_int_eq(hwprofile_parse(&hw, "t.json", tiny, n, &arena, &err), STATUS_INPUT);
}
END_TEST

#define HEAD "{\"schema\": \"dos-hwprofile/1\", \"name\": \"a\""
#define NODE ", \"node\": {\"gpus\": 1, \"hw_threads_per_rank\": 1, \"threads\": 1}"

static const struct {
	const char *text, *message;
} sections[] = {
    {HEAD "}", "\"node\" is missing"},
    {HEAD ", \"node\": 1}", "/node: an object is expected"},
    {HEAD ", \"provenance\": 1}", "/provenance: an object is expected"},
    {HEAD NODE "}", "\"values\" is missing"},
    {HEAD NODE ", \"values\": []}", "/values: an object is expected"},
    {HEAD NODE ", \"values\": {}}", "/values: \"host_memory_bytes\" is missing: host memory of the node"},
};

START_TEST(sections_missing_or_wrong)
{
	ck_assert_int_eq(parse(sections[_i].text), STATUS_INPUT);
	assert_has(err.text, sections[_i].message);
}
END_TEST

static const struct {
	const char *text;
	size_t n_bytes;
	const char *message;
} not_profiles[] = {
    {"", 0, "empty"},
    {"\x7f"
     "ELF\x02\x01\x01\0\0\0\0\0",
	12, "t.json"},
    {"{\"schema\": \"dos-hwprofile/1\"}\0", 30, "NUL"},
    {"\xff\xfe{\0}\0", 6, "t.json"},
    {"[]", 2, "an object is expected"},
    {"7", 1, "an object is expected"},
    {"null", 4, "an object is expected"},
    {"{}", 2, "\"schema\" is missing"},
    {"{\"traceEvents\": []}", 19, "\"schema\" is missing"},
    {"{\"schema\": 1}", 13, "a string is expected"},
};

START_TEST(not_a_profile)
{
	ck_assert_int_eq(
	    hwprofile_parse(&hw, "t.json", not_profiles[_i].text, not_profiles[_i].n_bytes, &arena, &err), STATUS_INPUT);
	assert_has(err.text, not_profiles[_i].message);
}
END_TEST

Suite *hwprofile_errors_suite(void);
Suite *hwprofile_errors_suite(void)
{
	Suite *const suite = suite_create("hwprofile_errors");
	TCase *const errors = tcase_create("errors");

	tcase_add_checked_fixture(errors, setup, teardown);
	tcase_add_loop_test(errors, refused_changes, 0, N_ELEMENTS(refused));
	tcase_add_loop_test(errors, sections_missing_or_wrong, 0, N_ELEMENTS(sections));
	tcase_add_loop_test(errors, not_a_profile, 0, N_ELEMENTS(not_profiles));
	tcase_add_test(errors, truncated);
	suite_add_tcase(suite, errors);
	return suite;
}

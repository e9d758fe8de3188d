/* SPDX-License-Identifier: GPL-3.0-or-later
 * Which traps a configuration has: warnings by id, notes in brackets, in the order of the rules. */
#include "model/traps.h"

#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static const char *json_of(const char *text)
{
	char *const copy = arena_strdup(&arena, text);

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

static struct traps find(const char *text, const struct traps_context *context)
{
	struct config_file *const file = arena_alloc(&arena, 1, sizeof(*file));
	struct traps traps = {.arena = &arena};
	struct err err = {0};

	ck_assert_msg(config_file_parse(file, "t.json", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert_msg(traps_find(&traps, file, context, &err) == 0, "%s", err.text);
	return traps;
}

static const char *ids(const struct traps *traps)
{
	const char *text = "";

	for (size_t i = 0; i < traps->n; i++)
		text = arena_printf(
		    &arena, traps->list[i].is_warning ? "%s%s%s" : "%s%s[%s]", text, i ? " " : "", traps->list[i].id);
	return text;
}

/* A node of 503 GiB. */
static const struct hwprofile *node(double pinned_max_bytes)
{
	struct hwprofile *const hw = arena_zalloc(&arena, 1, sizeof(*hw));

	hw->host_memory_bytes = 503 * 1073741824.0;
	hw->pinned_max_bytes = pinned_max_bytes;
	hw->host_overhead_bytes_per_param = 4.5;
	return hw;
}

#define OFFLOAD "'stage': 3, 'offload_optimizer': {'device': 'cpu', 'pin_memory': true"
#define SMALL ", 'sub_group_size': 1e8"

static const struct {
	const char *zero; /* members of zero_optimization */
	const char *model; /* preset, NULL: unknown */
	double gpus, pinned_max_bytes; /* 0: unknown */
	const char *ids;
} rows[] = {
    {"'stage': 3", NULL, 0, 0, ""},
    {OFFLOAD "}" SMALL, NULL, 0, 0, ""},
    {OFFLOAD "}", NULL, 0, 0, "[subgroup-default]"},
    {OFFLOAD "}, 'sub_group_size': 1e12", NULL, 0, 0, "one-subgroup"},
    {"'stage': 3, 'sub_group_size': 1e12", NULL, 0, 0, "[one-subgroup]"},
    {OFFLOAD "}, 'sub_group_size': 1e9", "7b", 8, 0, "one-subgroup"}, /* a share of 744 M */
    {OFFLOAD "}, 'sub_group_size': 1e9", "7b", 4, 0, ""},
    {OFFLOAD "}", "7b", 8, 0, "one-subgroup"}, /* the default */
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu'}" SMALL, NULL, 0, 0, "pageable-memory"},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'pin_memory': false}" SMALL, NULL, 0, 0, "pageable-memory"},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'pin_memory': 'auto'}" SMALL, NULL, 0, 0, ""},
    {OFFLOAD ", 'ratio': 0.5}" SMALL, NULL, 0, 0, "[ratio-in-whole-subgroups]"},
    {OFFLOAD ", 'ratio': 0.5}" SMALL, "7b", 4, 0, "[ratio-in-whole-subgroups]"}, /* 7 of 14 */
    {OFFLOAD ", 'ratio': 0.5}, 'sub_group_size': 1e9", "7b", 8, 0, "one-subgroup ratio-in-whole-subgroups"},
    {"'stage': 2, 'offload_optimizer': {'device': 'cpu', 'pin_memory': true, 'ratio': 0.5}", NULL, 0, 0,
	"[no-overlap] ratio-without-stage-3"},
    {OFFLOAD ", 'prefetch_optimizer': 1}" SMALL, NULL, 0, 0, "stride-below-2"},
    {OFFLOAD ", 'prefetch_optimizer': 1, 'prefetch_optimizer_gap': 2}" SMALL, "7b", 4, 0, "last-flush"}, /* 14 subgroups */
    {OFFLOAD ", 'prefetch_optimizer': 1, 'prefetch_optimizer_gap': 3}" SMALL, "7b", 4, 0, ""},
    {OFFLOAD "}" SMALL, "30b", 4, 1e15, "host-memory-short"}, /* 27.9 G x 22.5 B */
    {OFFLOAD ", 'ratio': 0.5}" SMALL, "30b", 4, 1e15, "[ratio-in-whole-subgroups]"},
    {OFFLOAD "}" SMALL, "7b", 4, 90e9, "pinned-memory-short"}, /* 95 GB */
    {"'stage': 3, 'offload_param': {'device': 'cpu'}", NULL, 0, 0, "offload-param-alone [not-modelled]"},
    {"'stage': 1, 'offload_param': {'device': 'cpu'}, 'offload_optimizer': {'device': 'cpu', 'pin_memory': true}", NULL, 0,
	0, "offload-param-without-stage-3 [no-overlap] [not-modelled]"},
    {"'stage': 2, 'overlap_comm': true", NULL, 0, 0, ""},
    {"'offload_optimizer': {'device': 'cpu', 'pin_memory': true}", NULL, 0, 0, "offload-without-zero [not-modelled]"},
    {"'stage': 3, 'overlap_comm': false", NULL, 0, 0, "no-overlap"},
    {"'stage': 3, 'contiguous_gradients': false", NULL, 0, 0, "[gradients-scattered]"},
    {"'stage': 3, 'overlap_com': true", NULL, 0, 0, "unknown-key"},
    {"'stage': 3, 'cpu_offload': false, 'cpu_offload_use_pin_memory': true", NULL, 0, 0, "[older-key] [older-key]"},
    {"'stage': 3, // why\n 'zenflow': {},", NULL, 0, 0, "comments commas [not-modelled]"},
    {OFFLOAD ", 'super_offload': true}" SMALL, NULL, 0, 0, "[not-modelled]"},
};

START_TEST(of_zero_optimization)
{
	const struct shape_preset *const preset = rows[_i].model ? shape_preset_find(rows[_i].model) : NULL;
	const struct traps_context context = {.shape = preset ? &preset->shape : NULL,
	    .hw = rows[_i].pinned_max_bytes > 0 ? node(rows[_i].pinned_max_bytes) : NULL,
	    .gpus = rows[_i].gpus};
	const struct traps traps = find(
	    json_of(
		arena_printf(&arena, "{'zero_optimization': {%s}, 'train_micro_batch_size_per_gpu': 1}", rows[_i].zero)),
	    &context);
	size_t n_warnings = 0;

	ck_assert_str_eq(ids(&traps), rows[_i].ids);
	for (size_t i = 0; i < traps.n; i++)
		n_warnings += traps.list[i].is_warning;
	ck_assert_uint_eq(traps.n_warnings, n_warnings);
}
END_TEST

static const struct {
	const char *root;
	double gpus;
	const char *ids, *better;
} batches[] = {
    {"'train_batch_size': 33, 'train_micro_batch_size_per_gpu': 2, 'gradient_accumulation_steps': 4", 4, "batch-sizes",
	"32"},
    {"'train_batch_size': 32, 'train_micro_batch_size_per_gpu': 2, 'gradient_accumulation_steps': 4", 4, "", NULL},
    {"'train_batch_size': 33, 'train_micro_batch_size_per_gpu': 2, 'gradient_accumulation_steps': 4", 0, "", NULL},
    {"'train_batch_size': 30", 4, "batch-sizes", "sizes that divide"},
    {"'train_batch_size': 'auto', 'train_micro_batch_size_per_gpu': 2, 'gradient_accumulation_steps': 4", 3, "", NULL},
    {"'gradient_accumulation_steps': 4", 4, "batch-sizes", "sizes that divide"},
    {"'train_batch_size': 4, 'bf16': {'enabled': true}, 'fp16': {'enabled': true}", 4, "two-precisions", "one of them"},
    {"'train_batch_size': 4, 'wall_clock_breakdown': true", 4, "[breakdown]", "false, once measured"},
};

START_TEST(of_batch_sizes)
{
	const struct traps_context context = {.gpus = batches[_i].gpus};
	const struct traps traps =
	    find(json_of(arena_printf(&arena, "{%s, 'zero_optimization': {'stage': 3}}", batches[_i].root)), &context);

	ck_assert_str_eq(ids(&traps), batches[_i].ids);
	if (batches[_i].better)
		ck_assert_str_eq(traps.list[0].better, batches[_i].better);
}
END_TEST

#define MODEL "--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
static const struct {
	const char *text, *ids;
} others[] = {
    {MODEL "--vocab-size 100", ""},
    {MODEL, "[vocabulary-unknown]"},
    {MODEL "--vocab-size 100 --optimizer-cpu-offload", "nothing-offloaded not-precision-aware no-overlap"},
    {MODEL "--vocab-size 100 --optimizer-cpu-offload --optimizer-offload-fraction 1 --use-precision-aware-optimizer "
	   "--overlap-cpu-optimizer-d2h-h2d --no-pin-cpu-grads",
	"pageable-memory"},
    {MODEL "--vocab-size 100 --optimizer-offload-fraction 0.5", "offload-is-off"},
    {MODEL "--vocab-size 100 --tensor-model-parallel-size 2 --use-distributed-optimizer", ""},
    {MODEL "--vocab-size 100 --tensor-model-parallel-size 2 --sequence-parallel", "[sequence-parallel]"},
    {MODEL "--vocab-size 100 --sequence-parallel", ""},
    {MODEL "--vocab-size 100 --pipeline-model-parallel-size 2", "[not-modelled]"},
    {MODEL "--vocab-size 100 --micro-batch-size 2 --global-batch-size 7", "batch-sizes"},
    {MODEL "--vocab-size 100 --num-experts 8", "[mixture-of-experts]"},
    {"{\"model_type\": \"llama\"}", ""},
    {"{\"model_type\": \"mixtral\"}", "[mixture-of-experts]"},
    {"{\"text_config\": {\"model_type\": \"llama\"}}", "[part-of-a-model]"},
    {" // a\n{\"model_type\": \"llama\", }", "comments commas"},
};

START_TEST(of_other_files)
{
	const struct traps_context context = {.gpus = 2};
	const struct traps traps = find(others[_i].text, &context);

	ck_assert_str_eq(ids(&traps), others[_i].ids);
}
END_TEST

static const struct {
	const char *text, *message;
} unknown[] = {
    {"", "neither JSON nor Megatron"},
    {"hello", "neither JSON nor Megatron"},
    {"{\"a\": 1}", "neither a Hugging Face"},
    {"[1]", "neither a Hugging Face"},
    {"{", "t.json:1:"},
};

START_TEST(of_no_kind)
{
	struct config_file file;
	struct err err = {0};

	ck_assert_int_eq(
	    config_file_parse(&file, "t.json", unknown[_i].text, strlen(unknown[_i].text), &arena, &err), STATUS_INPUT);
	assert_has(err.text, unknown[_i].message);
}
END_TEST

Suite *traps_suite(void);
Suite *traps_suite(void)
{
	Suite *const suite = suite_create("traps");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, of_zero_optimization, 0, N_ELEMENTS(rows));
	tcase_add_loop_test(core, of_batch_sizes, 0, N_ELEMENTS(batches));
	tcase_add_loop_test(core, of_other_files, 0, N_ELEMENTS(others));
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, of_no_kind, 0, N_ELEMENTS(unknown));
	suite_add_tcase(suite, errors);
	return suite;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/ds_config.h"

#include <stdlib.h>

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

static struct ds_config parse(const char *text)
{
	const char *const json = json_of(text);
	struct ds_config config;
	struct err err = {0};

	ck_assert_msg(ds_config_parse(&config, "ds.json", json, strlen(json), &arena, &err) == 0, "%s", err.text);
	return config;
}

/* The sample of the authors' artifact, in its own formatting. */
static const char published[] =
    "{\n\t'train_batch_size': 1,\n\t'train_micro_batch_size_per_gpu': 1,\n\t'zero_optimization': {\n"
    "\t\t'stage': 3,\n        'offload_optimizer': {\n            'device': 'cpu',\n            'ratio': 1,\n"
    "            'pin_memory': true,\n            'prefetch_optimizer': 1,\n"
    "            'part_grads_async': 1,\n            'prefetch_optimizer_gap': 2\n        },\n"
    "        'sub_group_size': 10000000\n\t},\n\t'bf16': {\n\t\t'enabled': true\n\t}\n}\n";

START_TEST(the_published_sample)
{
	const struct ds_config config = parse(published);

	ck_assert_double_eq(config.stage.value, 3);
	ck_assert_int_eq(config.optimizer_device, DS_DEVICE_CPU);
	ck_assert_int_eq(config.param_device, DS_DEVICE_NONE);
	ck_assert_double_eq(config.sub_group.value, 1e7);
	ck_assert(config.pin.is_given && config.pin.value == 1);
	ck_assert(config.fork_prefetch.value == 1 && config.fork_async.value == 1 && config.fork_stride.value == 2);
	ck_assert(config.overlap_comm.value == 1 && !config.overlap_comm.is_given); /* true iff stage 3 */
	ck_assert_uint_eq(config.n_unknown, 0);
}
END_TEST

START_TEST(defaults)
{
	const struct ds_config config = parse("{'train_batch_size': 8}");

	ck_assert_double_eq(config.stage.value, 0);
	ck_assert_double_eq(config.sub_group.value, 1e9);
	ck_assert_double_eq(config.reduce_bucket.value, 5e8);
	ck_assert_double_eq(config.max_live.value, 1e9);
	ck_assert_double_eq(config.ratio.value, 1);
	ck_assert_double_eq(config.overlap_comm.value, 0);
	ck_assert(!config.sub_group.is_given && !config.pin.is_given);
}
END_TEST

START_TEST(how_numbers_are_written)
{
	const struct ds_config config =
	    parse("{'train_batch_size': 'auto', 'zero_optimization': {'stage': 3, 'sub_group_size': 5e8,"
		  "'reduce_bucket_size': 'auto', 'overlap_comm': null, 'contiguous_gradients': 0}}");

	ck_assert(config.train_batch_size.is_auto && !config.train_batch_size.is_given);
	ck_assert_double_eq(config.sub_group.value, 5e8);
	ck_assert(config.reduce_bucket.is_auto && config.reduce_bucket.value == 5e8);
	ck_assert(!config.overlap_comm.is_given);
	ck_assert(config.contiguous_gradients.is_given && config.contiguous_gradients.value == 0);
}
END_TEST

START_TEST(older_keys)
{
	const struct ds_config config =
	    parse("{'zero_optimization': {'stage': 2, 'cpu_offload': true, 'cpu_offload_params': true,"
		  "'cpu_offload_use_pin_memory': true}, 'bfloat16': {'enabled': true}}");
	const struct ds_config oldest = parse("{'zero_optimization': true, 'allgather_size': 5e8}");

	ck_assert_int_eq(config.optimizer_device, DS_DEVICE_CPU);
	ck_assert_int_eq(config.param_device, DS_DEVICE_CPU);
	ck_assert_double_eq(config.pin.value, 1);
	ck_assert_double_eq(config.bf16.value, 1);
	ck_assert_double_eq(oldest.stage.value, 1);
}
END_TEST

START_TEST(comments_and_commas)
{
	const struct ds_config config =
	    parse("{ // why\n 'train_batch_size': 8,\n 'zero_optimization': {'stage': 3,},\n}\n");

	ck_assert_uint_eq(config.relaxed.n_comments, 1);
	ck_assert_uint_eq(config.relaxed.n_commas, 2);
	ck_assert_uint_eq(config.relaxed.comma_line, 3);
	ck_assert_double_eq(config.stage.value, 3);
}
END_TEST

START_TEST(unknown_keys)
{
	const struct ds_config config =
	    parse("{'train_batch_sise': 8, '_comment': 'x', 'zero_optimization': {'sub_group_sise': 1,"
		  "'offload_optimizer': {'qqqqqqqqqqqqqqqqqq': 1}}, 'optimizer': {'type': 'Adam', 'any': 1}}");

	ck_assert_uint_eq(config.n_unknown, 3);
	ck_assert_str_eq(config.unknown[0].path, "/train_batch_sise");
	ck_assert_str_eq(config.unknown[0].nearest, "train_batch_size");
	ck_assert_str_eq(config.unknown[1].path, "/zero_optimization/sub_group_sise");
	ck_assert_str_eq(config.unknown[1].nearest, "sub_group_size");
	ck_assert_str_eq(config.unknown[2].path, "/zero_optimization/offload_optimizer/qqqqqqqqqqqqqqqqqq");
	ck_assert_ptr_null(config.unknown[2].nearest);
}
END_TEST

/* ---- batch: 0 stands for a key that is absent, -1 for "auto" */

static const struct {
	double train, micro, accum, gpus;
	bool is_right;
	double want_micro, want_accum;
} batches[] = {
    {32, 2, 4, 4, true, 2, 4},
    {32, 2, 4, 8, false, 0, 0},
    {32, 2, 0, 4, true, 2, 4},
    {32, 0, 4, 4, true, 2, 4},
    {0, 2, 4, 4, true, 2, 4},
    {32, 0, 0, 4, true, 8, 1},
    {0, 2, 0, 4, true, 2, 1},
    {30, 0, 0, 4, false, 0, 0},
    {33, 2, 0, 4, false, 0, 0},
    {0, 0, 4, 4, false, 0, 0},
    {-1, 2, -1, 4, true, 2, 0},
    {32, -1, 4, 4, true, 0, 4},
    {-1, -1, -1, 4, true, 0, 0},
};

static const char *member(const char *key, double value)
{
	if (value == 0)
		return "";
	return value < 0 ? arena_printf(&arena, "'%s': 'auto',", key) : arena_printf(&arena, "'%s': %g,", key, value);
}

START_TEST(batch_sizes)
{
	const struct ds_config config = parse(arena_printf(&arena, "{%s%s%s 'fp16': {'enabled': true}}",
	    member("train_batch_size", batches[_i].train), member("train_micro_batch_size_per_gpu", batches[_i].micro),
	    member("gradient_accumulation_steps", batches[_i].accum)));
	struct batch batch = {.gpus = batches[_i].gpus};
	struct err err = {0};

	ck_assert_int_eq(ds_config_batch(&batch, &config, &err) == 0, batches[_i].is_right);
	if (!batches[_i].is_right) {
		assert_has(err.text, "train_batch_size");
		return;
	}
	ck_assert_double_eq(batch.mbs, batches[_i].want_micro);
	ck_assert_double_eq(batch.grad_accum, batches[_i].want_accum);
	ck_assert_double_eq(batch.subgroup_params, 1e9);
	ck_assert_int_eq(batch.precision, PRECISION_FP16);
	struct batch split = {.gpus = 1, .nodes = batches[_i].gpus};
	ck_assert_int_eq(ds_config_batch(&split, &config, &err), 0);
	ck_assert(split.mbs == batch.mbs && split.grad_accum == batch.grad_accum);
}
END_TEST

/* Stages 1 and 2 have no sub_group_size: one group, whatever the file says. */
START_TEST(stage_of_a_batch)
{
	static const struct {
		const char *stage;
		double gives, subgroup_params;
	} stages[] = {{"1", 1, DS_ONE_GROUP_PARAMS}, {"2", 2, DS_ONE_GROUP_PARAMS}, {"3", 3, 5e7}, {"0", 0, 5e7}, {"'auto'", 0, 5e7}};
	struct err err = {0};

	for (size_t i = 0; i < N_ELEMENTS(stages); i++) {
		const struct ds_config config = parse(arena_printf(&arena, "{'train_batch_size': 16, 'gradient_accumulation_steps': 2, "
		    "'zero_optimization': {'stage': %s, 'sub_group_size': 5e7}}", stages[i].stage));
		struct batch batch = {.gpus = 8, .tp = 2};
		ck_assert_msg(ds_config_batch(&batch, &config, &err) == 0, "%s", err.text);
		ck_assert(batch.zero_stage == stages[i].gives && batch.subgroup_params == stages[i].subgroup_params);
		ck_assert(batch.mbs == 2); /* 16 over 2 micro-batches of 4 data-parallel ranks */
	}
}
END_TEST

/* ---- policy */

static const struct {
	const char *zero, *spec, *refusal;
} policies[] = {
    {"'stage': 3", "gpu-only", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'none'}", "gpu-only", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu'}", "zero3-offload:flush=blocking", NULL},
    {"'stage': 3, 'cpu_offload': true", "zero3-offload:flush=blocking", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'part_grads_async': 1}", "zero3-offload:flush=async", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'ratio': 0.3}", "twinflow:ratio=0.3,flush=blocking", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'ratio': 0.8, 'prefetch_optimizer': 1, 'part_grads_async': true,"
     "'prefetch_optimizer_gap': 2}",
	"dos:stride=2,flush=async,ratio=0.8", NULL},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'prefetch_optimizer': 1}", "dos:flush=blocking,ratio=1", NULL},
    {"'stage': 2, 'offload_optimizer': {'device': 'cpu'}", "zero3-offload:flush=async", NULL},
    {"'stage': 1, 'offload_optimizer': {'device': 'cpu', 'ratio': 0.5}", "zero3-offload:flush=async", NULL}, /* no ratio there */
    {"'stage': 2", "gpu-only", NULL},
    {"'stage': 0", NULL, "stage 0 is not modelled"},
    {"'stage': 'auto'", NULL, "\"auto\""},
    {"'stage': 3, 'offload_optimizer': {'device': 'nvme', 'nvme_path': '/x'}", NULL, "NVMe"},
    {"'stage': 3, 'offload_param': {'device': 'nvme'}", NULL, "NVMe"},
    {"'stage': 3, 'offload_param': {'device': 'cpu'}, 'offload_optimizer': {'device': 'cpu'}", NULL,
	"parameters on the host"},
    {"'stage': 2, 'zenflow': {'topk_ratio': 0.1, 'update_interval': 'auto'}", NULL, "ZenFlow"},
    {"'stage': 3, 'offload_optimizer': {'device': 'cpu', 'super_offload': true}", NULL, "SuperOffload"},
};

START_TEST(policy)
{
	const struct ds_config config = parse(arena_printf(&arena, "{'zero_optimization': {%s}}", policies[_i].zero));
	const char *spec = NULL;
	struct err err = {0};
	const int rc = ds_config_policy(&spec, &config, &arena, &err);

	ck_assert_int_eq(rc, policies[_i].spec ? 0 : STATUS_USAGE);
	if (policies[_i].spec)
		ck_assert_str_eq(spec, policies[_i].spec);
	else
		assert_has(err.text, policies[_i].refusal);
}
END_TEST

/* ---- what is refused */

static const struct {
	const char *text, *message;
} refusals[] = {
    {"[]", "an object is expected"},
    {"{'zero_optimization': 3}", "/zero_optimization: an object"},
    {"{'zero_optimization': {'stage': 4}}", "/zero_optimization/stage"},
    {"{'zero_optimization': {'stage': '3'}}", "a number or \"auto\""},
    {"{'zero_optimization': {'sub_group_size': 1.5}}", "a whole number"},
    {"{'zero_optimization': {'overlap_comm': 'yes'}}", "true, false, 1, 0 or \"auto\""},
    {"{'zero_optimization': {'overlap_comm': 2}}", "true, false, 1, 0 or \"auto\""},
    {"{'zero_optimization': {'offload_optimizer': {'device': 'gpu'}}}", "\"none\", \"cpu\" or \"nvme\""},
    {"{'zero_optimization': {'offload_optimizer': {'ratio': 1.5}}}", "/zero_optimization/offload_optimizer/ratio"},
    {"{'zero_optimization': {'offload_optimizer': 'cpu'}}", "an object is expected"},
    {"{'train_batch_size': 8, 'train_batch_size': 8}", "twice"},
    {"{'train_batch_size': 8", "ds.json:1:"},
    {"{'train_batch_size': 8 /* open }", "ds.json:1:"},
};

START_TEST(refused)
{
	const char *const text = json_of(refusals[_i].text);
	struct ds_config config;
	struct err err = {0};

	ck_assert_int_eq(ds_config_parse(&config, "ds.json", text, strlen(text), &arena, &err), STATUS_INPUT);
	assert_has(err.text, refusals[_i].message);
}
END_TEST

Suite *ds_config_suite(void);
Suite *ds_config_suite(void)
{
	Suite *const suite = suite_create("ds_config");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_test(core, the_published_sample);
	tcase_add_test(core, defaults);
	tcase_add_test(core, how_numbers_are_written);
	tcase_add_test(core, older_keys);
	tcase_add_test(core, comments_and_commas);
	tcase_add_test(core, unknown_keys);
	tcase_add_loop_test(core, batch_sizes, 0, N_ELEMENTS(batches));
	tcase_add_test(core, stage_of_a_batch);
	tcase_add_loop_test(core, policy, 0, N_ELEMENTS(policies));
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, refused, 0, N_ELEMENTS(refusals));
	suite_add_tcase(suite, errors);
	return suite;
}

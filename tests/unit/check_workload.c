/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/workload.h"

#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static struct batch make_batch(double gpus, double subgroup_params)
{
	return (struct batch){.gpus = gpus, .subgroup_params = subgroup_params, .has_checkpointing = true};
}

static struct shape preset(const char *name)
{
	const struct shape_preset *const found = shape_preset_find(name);

	ck_assert_msg(found != NULL, "no preset %s", name);
	return found->shape;
}

/* The authors' csv has a 7B whose feed-forward is 128 narrower: 5,898,506,240 parameters. */
static struct shape named_shape(const char *name)
{
	struct shape shape;

	if (strcmp(name, "7b-csv") != 0)
		return preset(name);
	shape = preset("7b");
	shape.ffn = 10880;
	return shape;
}

static struct workload build(const struct shape *shape, const struct batch *batch)
{
	struct workload workload;
	struct err err = {0};

	ck_assert_msg(workload_build(&workload, shape, batch, &arena, &err) == 0, "%s", err.text);
	return workload;
}

/* ---- parameters of the presets */

static const struct {
	const char *name;
	double n_params, tolerance; /* 0: exact; else the log's printed precision */
} totals[] = {
    {"7b", 5948837888, 0},
    {"8.3b", 9.14e9, 0.005e9},
    {"10b", 9918500864, 0},
    {"13b", 11.32e9, 0.005e9},
    {"20b", 15326663680, 0},
    {"20b-a100", 15579222016, 0},
    {"30b", 27.87e9, 0.005e9},
    {"70b", 55.1e9, 0.05e9},
    {"gpt-1.3b-untied", 1339232256, 0},
    /* GPT-3's table has two digits; these are its shapes' own sums */
    {"gpt3-1.3b", 1315723264, 0},
    {"gpt3-2.7b", 2651553280, 0},
    {"gpt3-6.7b", 6658404352, 0},
    /* parameters of the published checkpoints */
    {"opt-1.3b", 1315758080, 0},
    {"opt-6.7b", 6658473984, 0},
    {"opt-13b", 12853473280, 0},
    {"opt-30b", 29974540288, 0},
    {"llama2-7b", 6738415616, 0},
    {"llama2-13b", 13015864320, 0},
    {"llama2-70b", 68976648192, 0},
    {"llama3-8b", 8030261248, 0},
    {"llama3-70b", 70553706496, 0},
    {"qwen2.5-7b", 7615616512, 0},
    {"qwen2.5-14b", 14770033664, 0},
    {"qwen2.5-32b", 32763876352, 0},
    {"qwen2.5-72b", 72706203648, 0},
    {"7b-csv", 5898506240, 0},
};

START_TEST(preset_totals)
{
	const struct shape shape = named_shape(totals[_i].name);
	const struct batch batch = make_batch(1, 100e6);
	const struct workload workload = build(&shape, &batch);
	const double off = fabs(workload.n_params - totals[_i].n_params);

	ck_assert_msg(off <= totals[_i].tolerance, "%s has %.17g parameters", shape.name, workload.n_params);
	ck_assert_double_eq(workload.rank_params, workload.n_params);
}
END_TEST

/* ---- number of subgroups of a rank, from the logs */

static const struct {
	const char *name;
	double gpus, subgroup_params;
	size_t n_subgroups;
	double rank_params; /* 0: not logged */
} partitions[] = {
    {"7b", 1, 10e6, 130, 5948837888},
    {"7b", 4, 100e6, 14, 1487209472},
    {"20b-a100", 4, 100e6, 33, 3894805504},
    {"20b", 4, 100e6, 31, 3831665920},
    {"10b", 4, 100e6, 23, 2479625216},
    {"7b-csv", 1, 100e6, 34, 5898506240},
    {"7b-csv", 2, 100e6, 26, 2949253120},
    {"7b-csv", 4, 100e6, 14, 1474626560},
    {"7b-csv", 8, 100e6, 7, 737313280},
    {"7b-csv", 16, 100e6, 4, 368656640},
    {"7b-csv", 1, 10e6, 130, 0},
    {"7b-csv", 1, 50e6, 65, 0},
    {"7b-csv", 1, 200e6, 26, 0},
    {"7b-csv", 1, 500e6, 12, 0},
    {"7b-csv", 1, 1e9, 6, 0},
    {"7b-csv", 1, 2e9, 3, 0},
    {"7b-csv", 1, 3e9, 2, 0},
    {"gpt-1.3b-untied", 1, 50e6, 26, 1339232256},
};

START_TEST(partition_counts)
{
	const struct shape shape = named_shape(partitions[_i].name);
	const struct batch batch = make_batch(partitions[_i].gpus, partitions[_i].subgroup_params);
	const struct workload workload = build(&shape, &batch);

	ck_assert_uint_eq(workload.n_subgroups, partitions[_i].n_subgroups);
	if (partitions[_i].rank_params > 0)
		ck_assert_double_eq(workload.rank_params, partitions[_i].rank_params);
}
END_TEST

START_TEST(sizes_of_7b)
{
	/* first and last of the log; the four of a layer repeat 32 times */
	static const double cycle[] = {16781312, 20971520, 90181632, 45088768};
	const struct shape shape = preset("7b");
	const struct batch batch = make_batch(1, 10e6);
	const struct workload workload = build(&shape, &batch);

	ck_assert_double_eq(workload.subgroups[0].n_params, 206045184);
	for (size_t i = 1; i < 129; i++)
		ck_assert_double_eq(workload.subgroups[i].n_params, cycle[(i - 1) % 4]);
	ck_assert_double_eq(workload.subgroups[129].n_params, 206045184 + 4096);
	ck_assert_double_eq(workload.max_subgroup_params, 206045184 + 4096);
}
END_TEST

START_TEST(sizes_of_gpt)
{
	const struct shape shape = preset("gpt-1.3b-untied");
	const struct batch batch = make_batch(1, 50e6);
	const struct workload workload = build(&shape, &batch);

	ck_assert_double_eq(workload.subgroups[0].n_params, 65536000);
	for (size_t i = 1; i < 25; i++)
		ck_assert_double_eq(workload.subgroups[i].n_params, 50339840);
	ck_assert_double_eq(workload.subgroups[25].n_params, 65540096);
}
END_TEST

START_TEST(tensors_agree_with_subgroups)
{
	static const double gpus[] = {1, 2, 3, 7, 64};
	const struct shape shape = preset(shape_presets[_i].shape.name);

	for (size_t g = 0; g < N_ELEMENTS(gpus); g++) {
		const struct batch batch = make_batch(gpus[g], 37e6);
		const struct workload workload = build(&shape, &batch);
		double sums[2000] = {0}, whole_params = 0;
		int layer = 0;
		ck_assert_uint_le(workload.n_subgroups, N_ELEMENTS(sums));
		for (size_t i = 0; i < workload.n_tensors; i++) {
			const struct tensor *const tensor = &workload.tensors[i];
			sums[tensor->subgroup] += tensor->rank_params;
			whole_params += tensor->n_params;
			ck_assert_double_eq(tensor->rank_params, ceil(tensor->n_params / gpus[g]));
			if (tensor->layer != TENSOR_NO_LAYER) {
				ck_assert_int_ge(tensor->layer, layer);
				layer = tensor->layer;
			}
		}
		ck_assert_int_eq(layer, (int)shape.layers - 1);
		ck_assert_double_eq(whole_params, workload.n_params);
		for (size_t i = 0; i < workload.n_subgroups; i++)
			ck_assert_double_eq(sums[i], workload.subgroups[i].n_params);
	}
}
END_TEST

START_TEST(layer_params_sum)
{
	const struct shape shape = preset(shape_presets[_i].shape.name);
	const struct batch batch = make_batch(1, 1e8);
	const struct workload workload = build(&shape, &batch);
	double sum = workload_layer_params(&workload, TENSOR_NO_LAYER);

	for (int i = 0; i < (int)shape.layers; i++)
		sum += workload_layer_params(&workload, i);
	ck_assert_double_eq(sum, workload.n_params);
}
END_TEST

/* ---- biases, ties, split tensors */

static const struct {
	const char *what;
	struct shape shape;
	double n_params;
	size_t n_tensors;
} variants[] = {
    {"gpt2 124M",
	{.arch = ARCH_GPT,
	    .layers = 12,
	    .hidden = 768,
	    .heads = 12,
	    .vocab = 50257,
	    .positions = 1024,
	    .is_tied = true,
	    .has_bias = true},
	124439808, 12 * 12 + 4},
    {"gpt2 124M, split",
	{.arch = ARCH_GPT,
	    .layers = 12,
	    .hidden = 768,
	    .heads = 12,
	    .vocab = 50257,
	    .positions = 1024,
	    .is_tied = true,
	    .has_bias = true,
	    .has_split_tensors = true},
	124439808, 12 * 16 + 4},
    {"llama 2 7B, split",
	{.arch = ARCH_LLAMA,
	    .layers = 32,
	    .hidden = 4096,
	    .heads = 32,
	    .ffn = 11008,
	    .vocab = 32000,
	    .has_split_tensors = true},
	6738415616, 32 * 9 + 3},
    {"llama 3 8B, split",
	{.arch = ARCH_LLAMA,
	    .layers = 32,
	    .hidden = 4096,
	    .heads = 32,
	    .kv_heads = 8,
	    .ffn = 14336,
	    .vocab = 128256,
	    .has_split_tensors = true},
	8030261248, 32 * 9 + 3},
    {"qwen 2.5 7B, split",
	{.arch = ARCH_LLAMA,
	    .layers = 28,
	    .hidden = 3584,
	    .heads = 28,
	    .kv_heads = 4,
	    .ffn = 18944,
	    .vocab = 152064,
	    .has_qkv_bias = true,
	    .has_split_tensors = true},
	7615616512, 28 * 12 + 3},
    {"own head_dim",
	{.arch = ARCH_LLAMA, .layers = 1, .hidden = 10, .heads = 4, .kv_heads = 2, .head_dim = 3, .ffn = 5, .vocab = 7},
	2 * 10 * 12 + 2 * 10 * 6 + 3 * 10 * 5 + 20 + 140 + 10, 7 + 3},
};

START_TEST(variants_total)
{
	const struct batch batch = make_batch(1, 1e8);
	const struct workload workload = build(&variants[_i].shape, &batch);

	ck_assert_msg(workload.n_params == variants[_i].n_params, "%s: %.17g", variants[_i].what, workload.n_params);
	ck_assert_uint_eq(workload.n_tensors, variants[_i].n_tensors);
}
END_TEST

/* ---- equal subgroups */

START_TEST(update_only)
{
	const struct shape shape = {.name = "custom"};
	const struct batch batch = {.gpus = 4, .n_subgroups = 12, .subgroup_params = 50e6};
	const struct workload workload = build(&shape, &batch);

	ck_assert(workload.is_update_only);
	ck_assert_uint_eq(workload.n_subgroups, 12);
	ck_assert_uint_eq(workload.n_tensors, 0);
	ck_assert_double_eq(workload.rank_params, 600e6);
	ck_assert_double_eq(workload.n_params, 2400e6);
	ck_assert_double_eq(workload.max_subgroup_params, 50e6);
	ck_assert_double_eq(workload_model_flop(&workload), 0);
	ck_assert_double_eq(workload_layer_params(&workload, TENSOR_NO_LAYER), 0);
}
END_TEST

/* ---- FLOPs */

START_TEST(flops_of_7b)
{
	const struct shape shape = preset("7b");
	struct batch batch = make_batch(4, 1e8);
	batch.mbs = 2;
	batch.grad_accum = 3;
	const struct workload workload = build(&shape, &batch);
	const double matrix_params = 2.0 * 4096 * 4096 + 2.0 * 4096 * 512 + 3.0 * 4096 * 11008;
	const double tokens = 2 * 2048;

	ck_assert_double_eq(workload_layer_matrix_params(&workload), matrix_params);
	assert_rel(workload_layer_gemm_flop(&workload), 2 * matrix_params * tokens, 1e-15);
	assert_rel(workload_layer_attention_flop(&workload), 2.0 * 2 * 2048 * 2048 * 4096 * 2, 1e-15);
	assert_rel(workload_head_flop(&workload), 2.0 * 50304 * 4096 * tokens, 1e-15);
	const double forward_flop =
	    32 * (2 * matrix_params * tokens + 4.0 * 2048 * 4096 * tokens) + 2.0 * 50304 * 4096 * tokens;
	assert_rel(workload_model_flop(&workload), 3 * forward_flop * 3 * 4, 1e-14);
}
END_TEST

/* ---- defaults and hash */

START_TEST(not_given)
{
	const struct shape shape = {.arch = ARCH_GPT, .layers = 2, .hidden = 64, .heads = 4, .vocab = 100};
	const struct batch batch = {.gpus = 1};
	const struct workload workload = build(&shape, &batch);

	ck_assert_double_eq(workload.shape.kv_heads, 4);
	ck_assert_double_eq(workload.shape.ffn, 256);
	ck_assert_double_eq(workload.batch.mbs, 1);
	ck_assert_double_eq(workload.batch.grad_accum, 1);
	ck_assert_double_eq(workload.batch.seq, 2048);
	ck_assert_double_eq(workload.batch.subgroup_params, 1e8);
}
END_TEST

START_TEST(hash_is_of_contents)
{
	struct shape shape = preset("7b");
	struct batch batch = make_batch(1, 1e8);
	const unsigned long long hash = build(&shape, &batch).content_hash;

	shape.name = "the same by another name";
	ck_assert(build(&shape, &batch).content_hash == hash);
	batch.mbs = 1; /* the default, given */
	ck_assert(build(&shape, &batch).content_hash == hash);
	batch.mbs = 2;
	ck_assert(build(&shape, &batch).content_hash != hash);
	batch.mbs = 1;
	shape.ffn += 64;
	ck_assert(build(&shape, &batch).content_hash != hash);
}
END_TEST

Suite *workload_suite(void);
Suite *workload_suite(void)
{
	Suite *const suite = suite_create("workload");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, preset_totals, 0, N_ELEMENTS(totals));
	tcase_add_loop_test(core, partition_counts, 0, N_ELEMENTS(partitions));
	tcase_add_test(core, sizes_of_7b);
	tcase_add_test(core, sizes_of_gpt);
	tcase_add_loop_test(core, tensors_agree_with_subgroups, 0, (int)n_shape_presets);
	tcase_add_loop_test(core, layer_params_sum, 0, (int)n_shape_presets);
	tcase_add_loop_test(core, variants_total, 0, N_ELEMENTS(variants));
	tcase_add_test(core, update_only);
	tcase_add_test(core, flops_of_7b);
	tcase_add_test(core, not_given);
	tcase_add_test(core, hash_is_of_contents);
	suite_add_tcase(suite, core);
	return suite;
}

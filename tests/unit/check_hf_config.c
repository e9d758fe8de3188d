/* SPDX-License-Identifier: GPL-3.0-or-later
 * Public models, exact to the parameter, from the keys that their config.json has. */
#include "model/hf_config.h"

#include <stdlib.h>

#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static struct hf_config parse(const char *text)
{
	struct hf_config config;
	struct err err = {0};

	ck_assert_msg(hf_config_parse(&config, "t.json", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	return config;
}

static struct workload count(const struct shape *shape)
{
	const struct batch batch = {.gpus = 1};
	struct workload workload;
	struct err err = {0};

	ck_assert_msg(workload_count(&workload, shape, &batch, &arena, &err) == 0, "%s", err.text);
	return workload;
}

static const struct {
	const char *name;
	double n_params, active_params, n_tensors; /* active 0: all; tensors 0: not known from a checkpoint's index */
	const char *source; /* of the total */
	const char *config;
} models[] = {
    {"gpt2", 124439808, 0, 148, "transformers, GPT2LMHeadModel.num_parameters()",
	"{'model_type': 'gpt2', 'n_embd': 768, 'n_head': 12, 'n_layer': 12, 'n_positions': 1024, 'vocab_size': 50257}"},
    {"gpt2-xl", 1557611200, 0, 0, "sum of its tensors; not looked up",
	"{'model_type': 'gpt2', 'n_embd': 1600, 'n_head': 25, 'n_layer': 48, 'n_ctx': 1024}"},
    {"opt-1.3b", 1315758080, 0, 0, "DeepSpeedExamples, opt-1.3b: \"num params: 1315758080\"",
	"{'model_type': 'opt', 'hidden_size': 2048, 'ffn_dim': 8192, 'num_attention_heads': 32, 'num_hidden_layers': 24,"
	" 'max_position_embeddings': 2048, 'vocab_size': 50272, 'word_embed_proj_dim': 2048}"},
    {"opt-350m", 331196416, 0, 0, "elements of the checkpoint, as benchmarks quote it",
	"{'model_type': 'opt', 'hidden_size': 1024, 'ffn_dim': 4096, 'num_attention_heads': 16, 'num_hidden_layers': 24,"
	" 'do_layer_norm_before': false, 'word_embed_proj_dim': 512, '_remove_final_layer_norm': false}"},
    {"bloom-560m", 559214592, 0, 293, "huggingface_hub tests: parameter_count F16 559214592",
	"{'model_type': 'bloom', 'hidden_size': 1024, 'n_head': 16, 'n_layer': 24, 'vocab_size': 250880, 'seq_length': "
	"2048}"},
    {"bloom", 176247271424, 0, 0, "BigScience model card: 176,247,271,424 parameters",
	"{'model_type': 'bloom', 'n_embed': 14336, 'num_attention_heads': 112, 'n_layer': 70, 'vocab_size': 250880}"},
    {"gpt-neox-20b", 20554567680, 0, 0, "EleutherAI model card: n_parameters 20554567680",
	"{'model_type': 'gpt_neox', 'hidden_size': 6144, 'intermediate_size': 24576, 'num_attention_heads': 64,"
	" 'num_hidden_layers': 44, 'vocab_size': 50432, 'tie_word_embeddings': false}"},
    {"pythia-160m", 162322944, 0, 0, "EleutherAI Pythia table: 162,322,944",
	"{'model_type': 'gpt_neox', 'hidden_size': 768, 'intermediate_size': 3072, 'num_attention_heads': 12,"
	" 'num_hidden_layers': 12, 'vocab_size': 50304}"},
    {"Llama-2-7b", 6738415616, 0, 291, "checkpoint index, total_size 13476831232 bytes of 2",
	"{'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': 11008, 'num_attention_heads': 32,"
	" 'num_hidden_layers': 32, 'num_key_value_heads': 32, 'vocab_size': 32000}"},
    {"Llama-3-8B", 8030261248, 0, 291, "total quoted in public code, 8030261248",
	"{'model_type': 'llama', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_attention_heads': 32,"
	" 'num_hidden_layers': 32, 'num_key_value_heads': 8, 'vocab_size': 128256, 'torch_dtype': 'bfloat16'}"},
    {"Llama-3.1-70B", 70553706496, 0, 723, "total quoted in public code, 70553706496",
	"{'model_type': 'llama', 'hidden_size': 8192, 'intermediate_size': 28672, 'num_attention_heads': 64,"
	" 'num_hidden_layers': 80, 'num_key_value_heads': 8, 'vocab_size': 128256, 'dtype': 'bfloat16'}"},
    {"Mistral-7B", 7241732096, 0, 291, "total quoted in public code, 7241732096",
	"{'model_type': 'mistral', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_attention_heads': 32,"
	" 'num_hidden_layers': 32, 'vocab_size': 32000}"},
    {"gemma-7b", 8537680896, 0, 254, "sum of its tensors; not looked up",
	"{'model_type': 'gemma', 'head_dim': 256, 'hidden_size': 3072, 'intermediate_size': 24576, 'num_attention_heads': "
	"16,"
	" 'num_hidden_layers': 28, 'num_key_value_heads': 16, 'vocab_size': 256000}"},
    {"Qwen2.5-7B", 7615616512, 0, 339, "total quoted in public code, 7615616512",
	"{'model_type': 'qwen2', 'hidden_size': 3584, 'intermediate_size': 18944, 'num_attention_heads': 28,"
	" 'num_hidden_layers': 28, 'num_key_value_heads': 4, 'vocab_size': 152064, 'tie_word_embeddings': false}"},
    {"Qwen2.5-0.5B", 494032768, 0, 290, "sum of its tensors; not looked up",
	"{'model_type': 'qwen2', 'hidden_size': 896, 'intermediate_size': 4864, 'num_attention_heads': 14,"
	" 'num_hidden_layers': 24, 'num_key_value_heads': 2, 'vocab_size': 151936, 'tie_word_embeddings': true}"},
    {"Qwen3-8B", 8190735360, 0, 399, "total quoted in public code, 8190735360",
	"{'model_type': 'qwen3', 'head_dim': 128, 'hidden_size': 4096, 'intermediate_size': 12288, 'num_attention_heads': "
	"32,"
	" 'num_hidden_layers': 36, 'num_key_value_heads': 8, 'tie_word_embeddings': false, 'vocab_size': 151936}"},
    {"Qwen3-0.6B", 596049920, 0, 310, "checkpoint without its copy of the tied head",
	"{'model_type': 'qwen3', 'head_dim': 128, 'hidden_size': 1024, 'intermediate_size': 3072, 'num_attention_heads': "
	"16,"
	" 'num_hidden_layers': 28, 'num_key_value_heads': 8, 'tie_word_embeddings': true, 'vocab_size': 151936}"},
    {"Mixtral-8x7B", 46702792704, 12879925248, 995, "total quoted in public code, 46702792704",
	"{'model_type': 'mixtral', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_attention_heads': 32,"
	" 'num_experts_per_tok': 2, 'num_hidden_layers': 32, 'num_key_value_heads': 8, 'num_local_experts': 8}"},
    {"Qwen1.5-MoE-A2.7B", 14315784192, 2689173504, 0, "total quoted in public code, 14315784192",
	"{'model_type': 'qwen2_moe', 'hidden_size': 2048, 'intermediate_size': 5632, 'moe_intermediate_size': 1408,"
	" 'num_attention_heads': 16, 'num_experts': 60, 'num_experts_per_tok': 4, 'num_hidden_layers': 24,"
	" 'num_key_value_heads': 16, 'shared_expert_intermediate_size': 5632, 'vocab_size': 151936}"},
    {"Qwen3-30B-A3B", 30532122624, 3353032704, 18867, "total quoted in public code, 30532122624",
	"{'model_type': 'qwen3_moe', 'decoder_sparse_step': 1, 'head_dim': 128, 'hidden_size': 2048, 'intermediate_size': "
	"6144,"
	" 'mlp_only_layers': [], 'moe_intermediate_size': 768, 'num_attention_heads': 32, 'num_experts': 128,"
	" 'num_experts_per_tok': 8, 'num_hidden_layers': 48, 'num_key_value_heads': 4, 'vocab_size': 151936}"},
    {"deepseek-moe-16b", 16375728128, 2828650496, 0, "total quoted in public code, 16375728128",
	"{'model_type': 'deepseek', 'first_k_dense_replace': 1, 'hidden_size': 2048, 'intermediate_size': 10944,"
	" 'moe_intermediate_size': 1408, 'moe_layer_freq': 1, 'n_routed_experts': 64, 'n_shared_experts': 2,"
	" 'num_attention_heads': 16, 'num_experts_per_tok': 6, 'num_hidden_layers': 28, 'num_key_value_heads': 16}"},
};

/* JSON in C strings reads better with ' for " */
static const char *json_of(const char *text)
{
	char *const copy = arena_strdup(&arena, text);

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

START_TEST(public_models)
{
	const struct hf_config config = parse(json_of(models[_i].config));
	const struct workload workload = count(&config.shape);
	const double active_params = models[_i].active_params > 0 ? models[_i].active_params : models[_i].n_params;
	double sum_params = 0;

	ck_assert_msg(workload.n_params == models[_i].n_params, "%s: %.17g", models[_i].name, workload.n_params);
	ck_assert_msg(workload_active_params(&workload) == active_params, "%s: active %.17g", models[_i].name,
	    workload_active_params(&workload));
	if (models[_i].n_tensors > 0)
		ck_assert_msg((double)workload.n_tensors == models[_i].n_tensors, "%s: %zu tensors", models[_i].name,
		    workload.n_tensors);
	for (size_t i = 0; i < workload.n_tensors; i++)
		sum_params += workload.tensors[i].n_params;
	ck_assert_double_eq(sum_params, workload.n_params);
}
END_TEST

START_TEST(layers_sum)
{
	const struct hf_config config = parse(json_of(models[_i].config));
	const struct workload workload = count(&config.shape);
	double sum_params = workload_layer_params(&workload, TENSOR_NO_LAYER);

	for (int layer = 0; layer < (int)config.shape.layers; layer++)
		sum_params += workload_layer_params(&workload, layer);
	ck_assert_double_eq(sum_params, workload.n_params);
}
END_TEST

/* ---- experts: counted, not timed */

START_TEST(experts_are_refused)
{
	const struct hf_config config = parse("{\"model_type\": \"mixtral\"}");
	struct batch batch = {.gpus = 1};
	struct workload workload;
	struct err err = {0};

	ck_assert_int_eq(workload_build(&workload, &config.shape, &batch, &arena, &err), STATUS_USAGE);
	assert_has(err.text, "mixture of 8 experts");
	batch.n_subgroups = 3;
	ck_assert_int_eq(workload_build(&workload, &config.shape, &batch, &arena, &err), 0);
}
END_TEST

START_TEST(some_layers_dense)
{
	/* 6 layers, 2 dense, then every second: layers 3 and 5 (from 0) have experts */
	const struct hf_config config = parse(json_of("{'model_type': 'qwen3_moe', 'num_hidden_layers': 6,"
						      "'mlp_only_layers': [0, 1], 'decoder_sparse_step': 2}"));
	const struct workload workload = count(&config.shape);
	const double dense = workload_layer_params(&workload, 0);

	for (int layer = 0; layer < 6; layer++)
		ck_assert_int_eq(workload_layer_params(&workload, layer) > dense, layer == 3 || layer == 5);
	const double experts = 2.0 * (128 - 8) * 3 * 2048 * 768;
	ck_assert_double_eq(workload.n_params - workload_active_params(&workload), experts);
	const double flop = workload_model_flop(&workload) / 3 / 2 / 2048; /* a token's matrices and scores */
	const double matrices = 6 * (2.0 * 2048 * 2048 + 2.0 * 2048 * 256) + 4 * 3.0 * 2048 * 6144 +
	    2 * (8 * 3.0 * 2048 * 768 + 2048 * 128) + 151936.0 * 2048;
	assert_rel(flop, matrices + 6 * 2.0 * 64 * 32 * 2048, 1e-12);
}
END_TEST

/* ---- absent keys, null, aliases, nesting */

static const struct {
	const char *config;
	double layers, hidden, heads, kv_heads, ffn, vocab, max_positions;
} fills[] = {
    {"{'model_type': 'llama'}", 32, 4096, 32, 32, 11008, 32000, 0},
    {"{'model_type': 'mistral'}", 32, 4096, 32, 8, 14336, 32000, 0},
    {"{'model_type': 'mistral', 'num_key_value_heads': null}", 32, 4096, 32, 32, 14336, 32000, 0},
    {"{'model_type': 'qwen2', 'num_attention_heads': 64}", 32, 4096, 64, 32, 22016, 151936, 0},
    {"{'model_type': 'gpt2', 'n_inner': null, 'n_embd': 96}", 12, 96, 12, 12, 384, 50257, 1024},
    {"{'model_type': 'gpt2', 'n_inner': 100}", 12, 768, 12, 12, 100, 50257, 1024},
    {"{'model_type': 'bloom', 'n_inner': 100, 'n_embed': 128}", 2, 128, 8, 8, 512, 250880, 0},
    {"{'model_type': 'llava', 'text_config': {'model_type': 'llama', 'hidden_size': 64, 'max_position_embeddings': 4096}}",
	32, 64, 32, 32, 11008, 32000, 4096},
};

START_TEST(absent_keys)
{
	const struct hf_config config = parse(json_of(fills[_i].config));
	const struct shape *const shape = &config.shape;

	ck_assert_double_eq(shape->layers, fills[_i].layers);
	ck_assert_double_eq(shape->hidden, fills[_i].hidden);
	ck_assert_double_eq(shape->heads, fills[_i].heads);
	ck_assert_double_eq(shape->kv_heads, fills[_i].kv_heads);
	ck_assert_double_eq(shape->ffn, fills[_i].ffn);
	ck_assert_double_eq(shape->vocab, fills[_i].vocab);
	ck_assert_double_eq(config.max_positions, fills[_i].max_positions);
	ck_assert_int_eq(config.is_part, strstr(fills[_i].config, "text_config") != NULL);
	count(shape);
}
END_TEST

START_TEST(precision)
{
	ck_assert(!parse("{\"model_type\": \"llama\"}").has_precision);
	ck_assert(!parse("{\"model_type\": \"llama\", \"dtype\": \"float32\"}").has_precision);
	ck_assert(parse("{\"model_type\": \"llama\", \"dtype\": \"float16\"}").precision == PRECISION_FP16);
	ck_assert(parse("{\"model_type\": \"llama\", \"torch_dtype\": \"bfloat16\"}").has_precision);
}
END_TEST

START_TEST(biases)
{
	const struct hf_config plain = parse("{\"model_type\": \"llama\"}");
	const struct hf_config attention = parse("{\"model_type\": \"llama\", \"attention_bias\": true}");
	const struct hf_config mlp = parse("{\"model_type\": \"llama\", \"mlp_bias\": true}");
	const double n_params = count(&plain.shape).n_params;

	ck_assert_double_eq(count(&attention.shape).n_params - n_params, 32 * 4 * 4096);
	ck_assert_double_eq(count(&mlp.shape).n_params - n_params, 32 * (2 * 11008 + 4096));
}
END_TEST

static const struct {
	const char *path, *name;
} names[] = {
    {"models/Qwen3-8B/config.json", "Qwen3-8B"},
    {"Qwen3-8B/config.json", "Qwen3-8B"},
    {"/a/qwen3-8B_config.json", "qwen3-8B_config"},
    {"config.json", "llama"},
    {"./config.json", "llama"},
    {"../config.json", "llama"},
    {"/config.json", "llama"},
    {"standard input", "llama"},
};

START_TEST(name_is_of_file_or_folder)
{
	const char *const text = "{\"model_type\": \"llama\"}";
	struct hf_config config;
	struct err err = {0};

	ck_assert_int_eq(hf_config_parse(&config, names[_i].path, text, strlen(text), &arena, &err), 0);
	ck_assert_str_eq(config.shape.name, names[_i].name);
}
END_TEST

/* ---- what is refused */

static const struct {
	const char *config, *message;
} refusals[] = {
    {"[]", "an object is expected"},
    {"{}", "\"model_type\" is missing"},
    {"{'model_type': 3}", "a string is expected"},
    {"{'model_type': 'lama'}", "did you mean \"llama\""},
    {"{'model_type': 'deepseek_v3'}", "latent attention"},
    {"{'model_type': 'llama', 'hidden_size': 4096.5}", "/hidden_size: 4096.5: a whole number"},
    {"{'model_type': 'llama', 'hidden_size': 0}", "/hidden_size"},
    {"{'model_type': 'llama', 'vocab_size': '32000'}", "/vocab_size"},
    {"{'model_type': 'llama', 'num_attention_heads': 30}", "do not divide the hidden size"},
    {"{'model_type': 'llama', 'num_key_value_heads': 7}", "do not divide 32 heads"},
    {"{'model_type': 'llama', 'tie_word_embeddings': 1}", "true or false"},
    {"{'model_type': 'bloom', 'n_embed': 64, 'hidden_size': 128}", "\"hidden_size\" is 128"},
    {"{'model_type': 'mixtral', 'num_experts_per_tok': 9}", "9 active experts of 8"},
    {"{'model_type': 'qwen3_moe', 'mlp_only_layers': [3]}", "/mlp_only_layers/0"},
    {"{'model_type': 'deepseek', 'n_routed_experts': 8, 'moe_layer_freq': 2}", "moe_layer_freq"},
    {"{'model_type': 'gpt2', 'add_cross_attention': true}", "only decoders"},
    {"{'model_type': 'opt', 'layer_norm_elementwise_affine': false}", "true would be accepted"},
    {"{'model_type': 'x', 'text_config': {'hidden_size': 64}}", "\"model_type\" is missing"},
    {"{'model_type': 'llama', 'max_position_embeddings': 'long'}", "/max_position_embeddings"},
    {"{'model_type': 'llama', 'attention_bias': 3}", "/attention_bias"},
    {"{'model_type': 'qwen3', 'attention_bias': 3}", "/attention_bias"},
    {"{'model_type': 'gpt_neox', 'attention_bias': 3}", "/attention_bias"},
    {"{'model_type': 'mixtral', 'num_local_experts': 0}", "/num_local_experts"},
    {"{'model_type': 'qwen3_moe', 'decoder_sparse_step': 0}", "/decoder_sparse_step"},
    {"{'model_type': 'qwen3_moe', 'mlp_only_layers': 3}", "a list of layers is expected"},
    {"{'model_type': 'qwen3_moe', 'mlp_only_layers': ['first']}", "/mlp_only_layers/0"},
    {"{'model_type': 'qwen2_moe', 'qkv_bias': 3}", "/qkv_bias"},
    {"{'model_type': 'deepseek', 'n_routed_experts': 0}", "/n_routed_experts"},
    {"{'model_type': 'gpt2', 'add_cross_attention': 3}", "/add_cross_attention"},
    {"{'model_type': 'opt', 'enable_bias': 3}", "/enable_bias"},
    {"{'model_type': 'llama'", "t.json:1:"},
};

START_TEST(refused)
{
	const char *const text = json_of(refusals[_i].config);
	struct hf_config config;
	struct err err = {0};

	ck_assert_int_eq(hf_config_parse(&config, "t.json", text, strlen(text), &arena, &err), STATUS_INPUT);
	assert_has(err.text, "t.json:");
	assert_has(err.text, refusals[_i].message);
}
END_TEST

/* Files of the shared collection, where there is one. */
START_TEST(shared_files)
{
	static const struct {
		const char *path;
		double n_params;
	} files[] = {{"qwen3-8B_config.json", 8190735360}, {"qwen3-30B-A3B_config.json", 30532122624}};
	const char *const shared = getenv("DOS_SHARED");

	if (!shared) {
		puts("hf_config: shared_files skipped, DOS_SHARED is not set");
		return;
	}
	for (size_t i = 0; i < N_ELEMENTS(files); i++) {
		struct hf_config config;
		struct err err = {0};
		const char *const path = arena_printf(&arena, "%s/data/hf_config/%s", shared, files[i].path);
		struct json_doc *doc;
		ck_assert_msg(json_open(&doc, path, &err) == 0 && hf_config_read(&config, doc, &arena, &err) == 0, "%s", err.text);
		json_close(doc);
		ck_assert_double_eq(count(&config.shape).n_params, files[i].n_params);
	}
}
END_TEST

Suite *hf_config_suite(void);
Suite *hf_config_suite(void)
{
	Suite *const suite = suite_create("hf_config");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, public_models, 0, N_ELEMENTS(models));
	tcase_add_loop_test(core, layers_sum, 0, N_ELEMENTS(models));
	tcase_add_test(core, experts_are_refused);
	tcase_add_test(core, some_layers_dense);
	tcase_add_loop_test(core, absent_keys, 0, N_ELEMENTS(fills));
	tcase_add_test(core, precision);
	tcase_add_test(core, biases);
	tcase_add_loop_test(core, name_is_of_file_or_folder, 0, N_ELEMENTS(names));
	tcase_add_test(core, shared_files);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, refused, 0, N_ELEMENTS(refusals));
	suite_add_tcase(suite, errors);
	return suite;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/megatron.h"

#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static struct megatron parse(const char *text)
{
	struct megatron m;
	struct err err = {0};

	ck_assert_msg(megatron_parse(&m, "args", text, strlen(text), &arena, &err) == 0, "%s", err.text);
	ck_assert(megatron_is(text, strlen(text)));
	return m;
}

static double count(const struct shape *shape)
{
	const struct batch batch = {.gpus = 1};
	struct workload workload;
	struct err err = {0};

	ck_assert_msg(workload_count(&workload, shape, &batch, &arena, &err) == 0, "%s", err.text);
	return workload.n_params;
}

/* The authors' 7B: 5,948,837,888 parameters by their logs' num_elems. */
static const char script[] =
    "#!/bin/bash\nHIDDEN=4096 # not 5120\nLAYERS=${NUM_LAYERS:-32}\nDATA_ARGS=\"--vocab-file ./vocab.json --split "
    "'98,2,0'\"\n"
    "GPT_ARGS=(\n   --num-layers $LAYERS\n   --hidden-size ${HIDDEN} --num-attention-heads 32\n"
    "   --ffn-hidden-size=11008 --num-key-value-heads 4 # grouped\n   --swiglu --normalization rmsnorm\n"
    "   --disable-bias-linear --use-rotary-position-embeddings --untie-embeddings-and-output-weights\n"
    "   --seq-length 2048 --max-position-embeddings 2048 --vocab-size 50257 --bf16\n"
    "   --micro-batch-size 2 --global-batch-size 32 --recompute-granularity full\n)\n"
    "torchrun --nproc_per_node 4 pretrain_gpt.py ${GPT_ARGS[@]} $DATA_ARGS\n";
static const char logged[] = "using world size: 4, data-parallel-size: 4\n"
			     "------------------------ arguments ------------------------\n"
			     "  add_bias_linear ................................. False\n"
			     "  add_position_embedding .......................... True\n"
			     "  bf16 ............................................ True\n"
			     "  ffn_hidden_size ................................. 11008\n"
			     "  global_batch_size ............................... 32\n"
			     "  hidden_size ..................................... 4096\n"
			     "  kv_channels ..................................... 128\n"
			     "[default0]:  micro_batch_size ................................ 2\n"
			     "  normalization ................................... rmsnorm\n"
			     "  num_attention_heads ............................. 32\n"
			     "  num_experts ..................................... None\n"
			     "  num_key_value_heads ............................. 4\n"
			     "  num_layers ...................................... 32\r\n"
			     "  recompute_granularity ........................... full\n"
			     "  seq_length ...................................... 2048\n"
			     "  swiglu .......................................... True\n"
			     "  untie_embeddings_and_output_weights ............. True\n"
			     "  use_rotary_position_embeddings .................. True\n"
			     "  vocab_size ...................................... None\n"
			     "  world_size ...................................... 4\n"
			     " > padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)\n";

START_TEST(the_7b_of_the_authors)
{
	const struct megatron m = parse(_i ? logged : script);
	struct batch batch = {0};
	struct err err = {0};

	ck_assert_int_eq(m.is_log, _i);
	ck_assert_double_eq(m.shape.vocab, 50304);
	ck_assert_double_eq(count(&m.shape), 5948837888);
	ck_assert_msg(megatron_batch(&batch, &m, &err) == 0, "%s", err.text);
	ck_assert_double_eq(batch.gpus, 4);
	ck_assert_double_eq(batch.mbs, 2);
	ck_assert_double_eq(batch.grad_accum, 4);
	ck_assert_double_eq(batch.seq, 2048);
	ck_assert(batch.has_checkpointing && m.has_precision);
	batch = (struct batch){.nodes = 2}; /* of all nodes */
	ck_assert_int_eq(megatron_batch(&batch, &m, &err), 0);
	ck_assert(batch.gpus == 2 && batch.grad_accum == 4);
}
END_TEST

/* ---- defaults */

static const struct {
	const char *args;
	double ffn, vocab, kv_heads, positions;
	bool is_tied;
} rows[] = {
    {"--vocab-size 50257 --seq-length 512", 4096, 50304, 16, 512, true},
    {"--vocab-size 50257 --max-position-embeddings 1024", 4096, 50304, 16, 1024, true},
    {"--swiglu --vocab-size 50257", 2688, 50304, 16, 0, true}, /* int(4096 * 2 / 3 / 64) * 64 */
    {"--vocab-size 50257 --tensor-model-parallel-size 8", 4096, 51200, 16, 0, true},
    {"--vocab-size 100 --make-vocab-size-divisible-by 1", 4096, 100, 16, 0, true},
    {"--vocab-size 1 --padded-vocab-size 777", 4096, 777, 16, 0, true},
    {"--vocab-size 128 --num-query-groups 4", 4096, 128, 16, 0, true}, /* only with its flag */
    {"--vocab-size 128 --num-query-groups 4 --group-query-attention", 4096, 128, 4, 0, true},
    {"--vocab-size 128 --untie-embeddings-and-output-weights --position-embedding-type rope --seq-length 9", 4096, 128, 16,
	0, false},
    {"--num_layers 3 --vocab-size 128", 4096, 128, 16, 0, true}, /* the last use counts; underscores are dashes */
};

START_TEST(defaults)
{
	const struct megatron m =
	    parse(arena_printf(&arena, "--num-layers 2 --hidden-size 1024 --num-attention-heads 16 %s", rows[_i].args));

	ck_assert_double_eq(m.shape.ffn, rows[_i].ffn);
	ck_assert_double_eq(m.shape.vocab, rows[_i].vocab);
	ck_assert_double_eq(m.shape.kv_heads, rows[_i].kv_heads);
	ck_assert_double_eq(m.shape.positions, rows[_i].positions);
	ck_assert(m.shape.is_tied == rows[_i].is_tied);
	count(&m.shape);
}
END_TEST

START_TEST(width_of_heads)
{
	const struct megatron m = parse("--num-layers 2 --hidden-size 1024 --num-attention-heads 16 --vocab-size 128 --kv-channels 128");

	ck_assert_double_eq(m.shape.head_dim, 128);
	ck_assert_double_eq(parse("--num-layers 2 --hidden-size 1024 --num-attention-heads 16 --vocab-size 128 --kv-channels 64").shape.head_dim, 0);
}
END_TEST

/* More than the list holds at first; lines that only look like one are none. */
START_TEST(long_lists)
{
	const char *text = "  1st ..... 5\n . ..... 5\n  x  ... 7\n  num_layers .\n";

	for (int i = 0; i < 200; i++)
		text = arena_printf(&arena, "%s  argument_%d ........ %d\n", text, i, i);
	text = arena_printf(&arena, "%s  num_layers ..... 2\n  hidden_size ..... 64\n  num_attention_heads .... 4\n", text);
	ck_assert_double_eq(parse(text).shape.layers, 2);
}
END_TEST

START_TEST(gpt2_as_megatron_builds_it)
{
	const struct megatron m = parse("--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 "
					"--vocab-size 50257 --make-vocab-size-divisible-by 1");

	ck_assert_double_eq(count(&m.shape), 124439808);
}
END_TEST

START_TEST(experts)
{
	const struct megatron m =
	    parse("--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention "
		  "--num-query-groups 8 --ffn-hidden-size 14336 --swiglu --normalization RMSNorm "
		  "--disable-bias-linear --position-embedding-type rope --vocab-size 32000 "
		  "--untie-embeddings-and-output-weights --num-experts 8 --moe-router-topk 2");

	ck_assert_double_eq(count(&m.shape), 46702792704); /* Mixtral-8x7B */
}
END_TEST

/* Each of 1000 assignments in A assigns A again: read in full, to depth 3, a thousand million times. Ends within the limit of time. */
START_TEST(variables_that_hold_each_other)
{
	char *text = arena_strdup(&arena, "N=1\nN=2\nA=\"-- ");

	for (int i = 0; i < 1000; i++)
		text = arena_printf(&arena, "%sA=$A ", text);
	text = arena_printf(&arena, "%s\"\nA=$A\nA=$A\n--num-layers $N --hidden-size 64 --num-attention-heads 4", text);
	ck_assert_double_eq(parse(text).shape.layers, 2);
}
END_TEST

/* ---- what is refused */

#define THREE "--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
static const struct {
	const char *text, *message;
} refusals[] = {
    {"--hidden-size 64 --num-attention-heads 4", "--num-layers is missing"},
    {"--num-layers\n--hidden-size 64", "args:1: --num-layers : a whole number"},
    {"--num-layers 2 \\\n --hidden-size $H",
	"args:2: --hidden-size $H: a whole number from 1 would be accepted (the variable"},
    {"--num-layers 2.5", "--num-layers 2.5"},
    {"--num-layers 2x", "--num-layers 2x"},
    {THREE "--optimizer-offload-fraction 1.5", "0 to 1 would be accepted"},
    {THREE "--num-experts 8 --moe-layer-freq [0]*1+[1]*3", "1 would be accepted"},
    {THREE "--num-experts x", "--num-experts x"},
    {THREE "--num-experts 8 --moe-router-topk 0", "--moe-router-topk 0"},
    {THREE "--ffn-hidden-size x", "--ffn-hidden-size x"},
    {THREE "--vocab-size x", "--vocab-size x"},
    {THREE "--nnodes 0", "--nnodes 0"},
    {THREE "--max-position-embeddings 0", "--max-position-embeddings 0"},
    {"A=32\n--num-layers $A/2", "--num-layers $A/2"}, /* no shell: more than a variable stays as it is */
    {"a-b=32\n--num-layers $a-b", "--num-layers $a-b"}, /* no name of a variable */
    {"1=32\n--num-layers ${1:-3", "--num-layers ${1:-3"},
};

START_TEST(refused)
{
	struct megatron m;
	struct err err = {0};

	ck_assert_int_eq(
	    megatron_parse(&m, "args", refusals[_i].text, strlen(refusals[_i].text), &arena, &err), STATUS_INPUT);
	assert_has(err.text, refusals[_i].message);
}
END_TEST

static const struct {
	const char *args, *message;
} batches[] = {
    {"--context-parallel-size 2", "--context-parallel-size 2 is not modelled"},
    {"--tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 3 --world-size 4", "x 2 data-parallel ranks"},
    {"--pipeline-model-parallel-size 4", "--pipeline-model-parallel-size 4 is not modelled"},
    {"--micro-batch-size 2 --global-batch-size 7 --world-size 2", "no multiple"},
};

START_TEST(tensor_parallel_batch)
{
	const struct megatron m = parse(THREE "--tensor-model-parallel-size 2 --use-distributed-optimizer --world-size 8 "
					      "--micro-batch-size 2 --global-batch-size 24");
	struct batch batch = {0}, given = {.tp = 4, .zero_stage = 3};
	struct err err = {0};

	ck_assert_int_eq(megatron_batch(&batch, &m, &err), 0);
	ck_assert(batch.gpus == 8 && batch.tp == 2 && batch.zero_stage == 1);
	ck_assert_double_eq(batch.grad_accum, 3); /* 24 over 2 sequences of 4 data-parallel ranks */
	ck_assert_int_eq(megatron_parallel(&given, &m, &err), 0);
	ck_assert(given.tp == 4 && given.zero_stage == 3);
}
END_TEST

START_TEST(batch_refused)
{
	const struct megatron m = parse(arena_printf(&arena, THREE "%s", batches[_i].args));
	struct batch batch = {0};
	struct err err = {0};

	ck_assert_int_eq(megatron_batch(&batch, &m, &err), STATUS_USAGE);
	assert_has(err.text, batches[_i].message);
}
END_TEST

START_TEST(is_it)
{
	ck_assert(!megatron_is("", 0));
	ck_assert(!megatron_is("{\"hidden_size\": 3}", 18));
	ck_assert(!megatron_is("loading ..... done\n--quiet", 26));
	ck_assert(megatron_is("x --hidden-size 3", 17));
}
END_TEST

/* ---- writing */

START_TEST(written_flags_read_back)
{
	const struct megatron_recommendation what = {.micro_batch = 2,
	    .global_batch = 64,
	    .seq = 4096,
	    .has_checkpointing = true,
	    .offload_frac = 0.5,
	    .is_overlapped = true};
	const char *const flags = megatron_flags(&what, " \\\n    ", &arena);
	const struct megatron m = parse(arena_printf(&arena, THREE "%s\n", flags));

	ck_assert(
	    m.has_offload && m.is_overlapped && m.is_precision_aware && m.has_distributed_optimizer && !m.is_unpinned);
	ck_assert(m.has_checkpointing && m.has_precision && m.precision == PRECISION_BF16);
	ck_assert_double_eq(m.offload_frac, 0.5);
	ck_assert_double_eq(m.micro_batch, 2);
	ck_assert_double_eq(m.global_batch, 64);
	ck_assert_double_eq(m.seq, 4096);
	const struct megatron_recommendation plain = {
	    .precision = PRECISION_FP16, .is_overlapped = true, .is_unpinned = true};
	ck_assert_str_eq(megatron_flags(&plain, " ", &arena), "--fp16 --use-distributed-optimizer");
}
END_TEST

Suite *megatron_suite(void);
Suite *megatron_suite(void)
{
	Suite *const suite = suite_create("megatron");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, the_7b_of_the_authors, 0, 2);
	tcase_add_loop_test(core, defaults, 0, N_ELEMENTS(rows));
	tcase_add_test(core, width_of_heads);
	tcase_add_test(core, long_lists);
	tcase_add_test(core, gpt2_as_megatron_builds_it);
	tcase_add_test(core, experts);
	tcase_add_test(core, variables_that_hold_each_other);
	tcase_add_test(core, is_it);
	tcase_add_test(core, written_flags_read_back);
	tcase_add_test(core, tensor_parallel_batch);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, refused, 0, N_ELEMENTS(refusals));
	tcase_add_loop_test(errors, batch_refused, 0, N_ELEMENTS(batches));
	suite_add_tcase(suite, errors);
	return suite;
}

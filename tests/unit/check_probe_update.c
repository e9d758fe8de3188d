/* SPDX-License-Identifier: GPL-3.0-or-later
 * The update runner on a device made of host memory: every schedule gives the all-CPU result, bit for bit. */
#include <stdlib.h>
#include <unistd.h>

#include "probe/runs_csv.h"
#include "probe/update_points.h"
#include "tests/unit/test_util.h"

Suite *probe_update_suite(void);

struct fixture {
	struct arena arena;
	struct update_points points;
	struct topology topology;
	struct update_job job;
	struct jsonw *trace; /* NULL: none */
	struct err err;
};

static void add(struct fixture *f, const char *specs, size_t subgroup_params, size_t n_subgroups, int threads)
{
	const struct update_defaults defaults = {subgroup_params, n_subgroups, threads, f->topology.n_threads};
	const int rc = update_points_add(&f->points, specs, &defaults, &f->arena, &f->err);
	ck_assert_msg(rc == 0, "%s: %s", specs, f->err.text);
}

static void run(struct fixture *f, int n_ranks, size_t n_repeats)
{
	f->job = (struct update_job){.topology = &f->topology,
	    .points = f->points.points,
	    .n_points = f->points.n,
	    .results = arena_zalloc(&f->arena, f->points.n, sizeof(struct update_result)),
	    .n_ranks = n_ranks,
	    .n_repeats = n_repeats,
	    .trace = f->trace};
	const int rc = update_measure(&f->job, &f->err);
	ck_assert_msg(rc == 0, "%s", f->err.text);
	for (size_t i = 0; i < f->points.n; i++) {
		const struct update_result *const result = &f->job.results[i];
		const char *const name = f->points.points[i].policy.canonical;
		ck_assert_msg(result->verified, "%s", name);
		ck_assert_msg(result->check.n_wrong == 0, "%s: %zu wrong", name, result->check.n_wrong);
		ck_assert_msg(result->check.n_differing == 0, "%s: %zu bits differ", name, result->check.n_differing);
		ck_assert_uint_eq(result->n_samples, n_repeats);
	}
}

static struct fixture *fixture_new(void)
{
	struct fixture *const f = calloc(1, sizeof *f);
	topology_read(&f->topology);
	return f;
}

static void fixture_free(struct fixture *f)
{
	arena_release(&f->arena);
	free(f);
}

START_TEST(published_at_all_strides)
{
	struct fixture *const f = fixture_new();
	add(f, "dos:stride=0", 5000, 7, 2);
	add(f, "dos:stride=2..8", 5000, 7, 2);
	add(f, "dos:stride=2..4,downscale=eager,workers=2", 5000, 8,
	    1); /* n mod k == 0: the last write-back is not issued */
	add(f, "dos:stride=2;3,grads=bf16", 777, 9, 2);
	add(f, "dos:stride=2,ratio=0.5,unscale=fused", 4096, 9, 2);
	run(f, 1, 2);
	fixture_free(f);
}
END_TEST

START_TEST(chains_and_buffers)
{
	struct fixture *const f = fixture_new();
	add(f, "dos:stride=1..5,chain=serial", 1000, 9, 2);
	add(f, "dos:stride=1..5,chain=duplex,buffers=1..4", 1000, 9, 2);
	add(f, "dos:stride=2,chain=duplex,downscale=batch;eager;fused,grads=fp32;bf16", 1001, 6, 3);
	add(f, "dos:stride=3,chain=serial,unscale=separate", 64, 5, 1);
	run(f, 1, 2);
	fixture_free(f);
}
END_TEST

START_TEST(hybrid_fractions_and_masks)
{
	struct fixture *const f = fixture_new();
	add(f, "hybrid:fraction=0..1:0.25,buffers=1..4", 2049, 8, 2);
	add(f, "hybrid:mask=0110,chain=published;serial", 2049, 8, 2);
	add(f, "hybrid:mask=1,prefetch=backward", 2049, 8, 2);
	add(f, "hybrid:fraction=0.4,downscale=batch;eager,grads=fp32,unscale=separate;fused", 2049, 8, 2);
	run(f, 1, 3);
	fixture_free(f);
}
END_TEST

START_TEST(split_parameters)
{
	struct fixture *const f = fixture_new();
	add(f, "hybrid:fraction=0..1:0.25,buffers=1..4,downscale=split", 2049, 8, 2);
	add(f, "hybrid:mask=0110,chain=serial,downscale=split", 2049, 8, 2);
	add(f, "hybrid:mask=1,prefetch=backward,downscale=split", 2049, 8, 2);
	add(f, "hybrid:fraction=0.4,downscale=split,grads=fp32,unscale=separate;fused", 5000, 7, 2);
	add(f, "dos:stride=0..5,chain=serial,downscale=split", 1000, 9, 2);
	add(f, "dos:stride=1..5,chain=duplex,buffers=1..4,downscale=split,grads=fp32;bf16", 1000, 9, 3);
	add(f, "dos:stride=2,chain=serial,downscale=split,ratio=0;0.5", 1000, 9, 1);
	run(f, 1, 2);
	fixture_free(f);
}
END_TEST

/* In one process with whole parameters, in both orders and in another layout. */
START_TEST(split_and_whole_in_turn)
{
	struct fixture *const f = fixture_new();
	add(f, "hybrid:fraction=0.5,downscale=split;fused;split;batch;split", 777, 8, 2);
	add(f, "dos:stride=2", 777, 8, 2);
	add(f, "dos:stride=2,chain=serial,downscale=eager;split;fused", 900, 5, 2);
	run(f, 1, 3);
	fixture_free(f);
}
END_TEST

START_TEST(several_ranks)
{
	struct fixture *const f = fixture_new();
	add(f, "dos:stride=2,hybrid:fraction=0.5", 3000, 6, 1);
	add(f, "hybrid:fraction=0.25;0.5,downscale=split", 3000, 6, 1);
	run(f, 2, 2);
	fixture_free(f);
}
END_TEST

START_TEST(one_element_subgroups)
{
	struct fixture *const f = fixture_new();
	add(f, "dos:stride=2,hybrid:fraction=0.5", 1, 3, 2);
	add(f, "hybrid:fraction=0.5,downscale=split", 1, 3, 2);
	run(f, 1, 1);
	fixture_free(f);
}
END_TEST

/* A process that only times: all samples, no verdict, and rows that say so. */
START_TEST(nothing_is_verified_when_told_so)
{
	struct fixture *const f = fixture_new();
	add(f, "dos:stride=2,hybrid:fraction=0.5", 3000, 6, 1);
	add(f, "dos:stride=2,hybrid:fraction=0.5", 500, 11, 1);
	add(f, "hybrid:fraction=0.5,downscale=split", 500, 11, 1);
	f->job = (struct update_job){.topology = &f->topology,
	    .points = f->points.points,
	    .n_points = f->points.n,
	    .results = arena_zalloc(&f->arena, f->points.n, sizeof(struct update_result)),
	    .n_ranks = 1,
	    .n_repeats = 2,
	    .skip_check = true};
	ck_assert_int_eq(update_measure(&f->job, &f->err), 0);
	for (size_t i = 0; i < f->points.n; i++) {
		ck_assert(!f->job.results[i].verified);
		ck_assert_uint_eq(f->job.results[i].n_samples, 2);
	}
	fixture_free(f);
}
END_TEST

/* Low halves cost two bytes a parameter, and only where a point is split. */
START_TEST(memory_of_the_host)
{
	struct fixture *const f = fixture_new();
	add(f, "hybrid:fraction=0.5", 640, 10, 1);
	ck_assert_double_eq(update_host_bytes(f->points.points, f->points.n), 6400 * 16.0);
	add(f, "hybrid:fraction=0.5,downscale=split", 640, 10, 1);
	ck_assert_double_eq(update_host_bytes(f->points.points, f->points.n), 6400 * 18.0);
	add(f, "dos:stride=2", 640, 10, 1);
	ck_assert_double_eq(update_host_bytes(f->points.points, f->points.n), 6400 * 22.0);
	fixture_free(f);
}
END_TEST

static size_t n_times(const char *text, const char *part)
{
	size_t n = 0;
	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* Of six subgroups the GPU updates three: the same operations, without the casts where parameters are split. */
START_TEST(traced_operations)
{
	static const char *const specs[] = {"hybrid:fraction=0.5", "hybrid:fraction=0.5,downscale=split"};
	static const char *const names[] = {"fetch", "gpu adam", "write-back", "adam", "push"};
	for (size_t i = 0; i < N_ELEMENTS(specs); i++) {
		struct fixture *const f = fixture_new();
		char *text = NULL;
		size_t size;
		FILE *const out = open_memstream(&text, &size);
		struct jsonw w;
		jsonw_init(&w, out, true);
		jsonw_array(&w);
		f->trace = &w;
		add(f, specs[i], 500, 6, 2);
		run(f, 1, 1);
		jsonw_end_array(&w);
		fclose(out);
		for (size_t name = 0; name < N_ELEMENTS(names); name++)
			ck_assert_uint_eq(n_times(text, arena_printf(&f->arena, "\"name\": \"%s\"", names[name])), 3);
		ck_assert_uint_eq(n_times(text, "gradient cast"), i == 0 ? 3 : 0);
		ck_assert_uint_eq(n_times(text, "parameter cast"), i == 0 ? 3 : 0);
		free(text);
		fixture_free(f);
	}
}
END_TEST

/* ---- files */

static char *file_text(struct arena *arena, const char *path)
{
	FILE *const file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	char *const text = arena_zalloc(arena, 1 << 16, 1);
	ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, file), (1 << 16) - 1);
	fclose(file);
	return text;
}

START_TEST(rows_and_their_medians)
{
	struct fixture *const f = fixture_new();
	char folder[] = "/tmp/check_probe_XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	const char *paths[3];
	add(f, "dos:stride=2,hybrid:fraction=0.5", 100, 4, 2);
	struct update_result results[2] = {{.n_samples = 1, .verified = true}, {.n_samples = 1, .verified = true}};
	f->job = (struct update_job){.points = f->points.points, .n_points = 2, .results = results, .n_ranks = 1};
	for (int i = 0; i < 3; i++) {
		results[0].samples_s[0] = 1.0 + i;
		results[1].samples_s[0] = 7.0;
		results[1].check.n_wrong = i == 1;
		paths[i] = arena_printf(&f->arena, "%s/%d.csv", folder, i);
		ck_assert_int_eq(runs_csv_write(paths[i], &f->job, &(struct runs_header){"hw", "a note"}, &f->err), 0);
	}
	const char *const out = arena_printf(&f->arena, "%s/out.csv", folder);
	ck_assert_int_eq(runs_csv_merge(out, paths, 3, &f->arena, &f->err), 0);
	const char *const text = file_text(&f->arena, out);
	assert_has(text,
	    "id,hw,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,gpus,mbs,grad_accum,checkpointing,policy,subgroup,"
	    "n_subgroups,threads,forward_s,backward_s,update_s,other_s,iteration_s,gpu_peak_bytes,host_peak_bytes,"
	    "exclude,source\n");
	assert_has(text,
	    "\"dos:stride=2,chain=published,buffers=1,downscale=batch,workers=1,grads=fp32,unscale=separate,flush=async,"
	    "ratio=1\",100,4,2,,,2,,,,,,");
	assert_has(text, "median of 3 processes, 1..3 s; a note");
	assert_has(text, ",7,,,,,wrong result,");
	const char *const missing[] = {"/nonexistent.csv"};
	ck_assert_int_eq(runs_csv_merge(out, missing, 1, &f->arena, &f->err), STATUS_INPUT);
	for (int i = 0; i < 3; i++)
		unlink(paths[i]);
	unlink(out);
	rmdir(folder);
	fixture_free(f);
}
END_TEST

/* ---- SPECs */

static const struct {
	const char *spec, *canonical;
} good[] = {
    {"dos:stride=0",
	"dos:stride=0,chain=published,buffers=1,downscale=batch,workers=1,grads=fp32,unscale=separate,flush=async,ratio=1"},
    {"dos:stride=1,chain=duplex,downscale=fused,grads=bf16",
	"dos:stride=1,chain=duplex,buffers=2,downscale=fused,workers=1,grads=bf16,unscale=fused,flush=async,ratio=1"},
    {"hybrid:fraction=0.5",
	"hybrid:fraction=0.5,chain=duplex,buffers=3,downscale=fused,workers=1,grads=bf16,unscale=fused,flush=async,"
	"prefetch=step"},
    {"hybrid:fraction=0.5,downscale=split",
	"hybrid:fraction=0.5,chain=duplex,buffers=3,downscale=split,workers=1,grads=bf16,unscale=fused,flush=async,"
	"prefetch=step"},
    {"hybrid:mask=0110,buffers=4",
	"hybrid:mask=0110,chain=duplex,buffers=4,downscale=fused,workers=1,grads=bf16,unscale=fused,flush=async,prefetch="
	"step"},
};

static const struct {
	const char *spec, *part;
} bad[] = {{"zero3-offload", "dos or hybrid"}, {"dos", "stride"}, {"dos:stride=-1", "stride"},
    {"dos:stride=2,stride=3", "stride"}, {"dos:stride=2,buffers=2", "chain=duplex"}, {"dos:stride=1", "stride 1"},
    {"dos:stride=2,grads=bf16,unscale=separate", "grads=fp32"},
    {"dos:stride=2,downscale=split", "chain=serial or chain=duplex would be accepted"},
    {"hybrid:mask=01,chain=published,downscale=split", "chain=serial or chain=duplex would be accepted"},
    {"dos:stride=2,downscale=never", "batch, eager, fused or split"},
    {"dos:stride=2,chain=triplex", "published, serial or duplex"}, {"hybrid", "fraction"},
    {"hybrid:fraction=1.5", "fraction"}, {"hybrid:fraction=0.5,mask=01", "one of"}, {"hybrid:mask=012", "mask"},
    {"dos:stride=2,color=red", "color"}};

START_TEST(canonical_forms)
{
	struct arena arena = {0};
	struct update_policy policy;
	struct err err;
	for (size_t i = 0; i < N_ELEMENTS(good); i++) {
		ck_assert_msg(update_policy_parse(&policy, good[i].spec, &arena, &err) == 0, "%s", err.text);
		ck_assert_str_eq(policy.canonical, good[i].canonical);
		ck_assert_int_eq(update_policy_parse(&policy, good[i].canonical, &arena, &err), 0);
		ck_assert_str_eq(policy.canonical, good[i].canonical);
	}
	for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
		ck_assert_msg(update_policy_parse(&policy, bad[i].spec, &arena, &err) == STATUS_USAGE, "%s", bad[i].spec);
		assert_has(err.text, bad[i].part);
	}
	arena_release(&arena);
}
END_TEST

START_TEST(placement)
{
	struct arena arena = {0};
	struct update_policy policy, third;
	struct err err;
	ck_assert_int_eq(update_policy_parse(&policy, "dos:stride=3", &arena, &err), 0);
	ck_assert_int_eq(update_policy_parse(&third, "hybrid:fraction=0.3333333333333333", &arena, &err), 0);
	for (size_t x = 0; x < 30; x++) {
		ck_assert_int_eq(update_policy_place(&policy, x, 30), x % 3 == 2 ? PLACE_GPU : PLACE_CPU);
		ck_assert_int_eq(update_policy_place(&third, x, 30), update_policy_place(&policy, x, 30));
	}
	arena_release(&arena);
}
END_TEST

/* All of a rank's, less the workers where there are any. */
START_TEST(threads_of_a_point)
{
	static const char spec[] = "hybrid:mask=1,downscale=batch;eager;fused;split,workers=3";
	static const int want[] = {5, 5, 8, 8};
	struct fixture *const f = fixture_new();
	const struct update_defaults defaults = {100, 4, 0, 8};
	ck_assert_int_eq(update_points_add(&f->points, spec, &defaults, &f->arena, &f->err), 0);
	ck_assert_uint_eq(f->points.n, N_ELEMENTS(want));
	for (size_t i = 0; i < N_ELEMENTS(want); i++)
		ck_assert_int_eq(f->points.points[i].threads, want[i]);
	fixture_free(f);
}
END_TEST

Suite *probe_update_suite(void)
{
	Suite *const suite = suite_create("probe_update");
	TCase *const core = tcase_create("core"), *const files = tcase_create("files"),
		     *const specs = tcase_create("specs");
	tcase_add_test(core, published_at_all_strides);
	tcase_add_test(core, chains_and_buffers);
	tcase_add_test(core, hybrid_fractions_and_masks);
	tcase_add_test(core, split_parameters);
	tcase_add_test(core, split_and_whole_in_turn);
	tcase_add_test(core, several_ranks);
	tcase_add_test(core, one_element_subgroups);
	tcase_add_test(core, nothing_is_verified_when_told_so);
	tcase_add_test(core, memory_of_the_host);
	tcase_add_test(core, traced_operations);
	tcase_add_test(files, rows_and_their_medians);
	tcase_add_test(specs, canonical_forms);
	tcase_add_test(specs, placement);
	tcase_add_test(specs, threads_of_a_point);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, specs);
	return suite;
}

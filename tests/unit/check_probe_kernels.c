/* SPDX-License-Identifier: GPL-3.0-or-later
 * CPU kernels of the probe: against references in double, at odd sizes and alignments, and all sets bit for bit alike. */
#include <stdbool.h>

#include "probe/kernels.h"
#include "probe/team.h"
#include "tests/unit/test_util.h"

Suite *probe_kernels_suite(void);

enum { N = 517, OFFSETS = 3 };

struct data {
	_Alignas(64) float m[N + OFFSETS], v[N + OFFSETS], p[N + OFFSETS], g[N + OFFSETS];
	_Alignas(64) uint16_t g16[N + OFFSETS], out[N + OFFSETS], hi[N + OFFSETS], lo[N + OFFSETS];
};

static uint32_t next_random(uint32_t *state)
{
	return *state = *state * 1664525U + 1013904223U;
}

static float uniform(uint32_t *state) /* -1 .. 1 */
{
	return (float)((double)next_random(state) / 2147483648.0 - 1);
}

static void fill(struct data *data)
{
	uint32_t state = 12345;
	for (size_t i = 0; i < N + OFFSETS; i++) {
		data->m[i] = 1e-3F * uniform(&state);
		data->v[i] = 1e-6F * fabsf(uniform(&state));
		data->p[i] = 0.02F * uniform(&state);
		data->g16[i] = bf16_of_float(1e-3F * uniform(&state));
		data->g[i] = float_of_bf16(data->g16[i]);
		data->out[i] = 0xffff;
		data->hi[i] = split_hi(data->p[i]);
		data->lo[i] = split_lo(data->p[i]);
	}
}

static size_t sets(const struct kernel_set *list[3])
{
	size_t n = 0;
	list[n++] = &kernels_scalar;
	if (kernels_avx2())
		list[n++] = kernels_avx2();
	if (kernels_avx512())
		list[n++] = kernels_avx512();
	return n;
}

static struct adam_arrays arrays_of(struct data *data, size_t offset, enum grad_kind grad)
{
	return (struct adam_arrays){.m = data->m + offset,
	    .v = data->v + offset,
	    .p = data->p + offset,
	    .g = grad == GRAD_FP32 ? (const void *)(data->g + offset) : data->g16 + offset,
	    .out = data->out + offset,
	    .hi = data->hi + offset,
	    .lo = data->lo + offset,
	    .step = adam_step_of(3, 0.5F)};
}

/* AdamW in double, from the same start. */
static void reference(double *m, double *v, double *p, const struct data *start, size_t i)
{
	const double g = 0.5 * (double)start->g[i], lr = 1e-3;
	*m = 0.9 * (double)start->m[i] + 0.1 * g;
	*v = 0.999 * (double)start->v[i] + 0.001 * g * g;
	const double step = lr / (1 - pow(0.9, 3)), root = sqrt(*v) / sqrt(1 - pow(0.999, 3));
	*p = (double)start->p[i] * (1 - lr * 0.01) - step * *m / (root + 1e-8);
}

START_TEST(adam_follows_the_double_reference)
{
	static struct data start, got;
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	fill(&start);
	for (size_t s = 0; s < n_sets; s++) {
		got = start;
		const struct adam_arrays arrays = arrays_of(&got, 0, GRAD_FP32);
		list[s]->adam[GRAD_FP32][1](&arrays, 0, N);
		for (size_t i = 0; i < N; i++) {
			double m, v, p;
			reference(&m, &v, &p, &start, i);
			ck_assert_double_le(fabs((double)got.m[i] - m), 1e-6 * fmax(fabs(m), 1e-4));
			ck_assert_double_le(fabs((double)got.v[i] - v), 1e-6 * fmax(fabs(v), 1e-8));
			ck_assert_double_le(fabs((double)got.p[i] - p), 1e-6 * fmax(fabs(p), 1e-2));
			ck_assert_uint_eq(got.out[i], bf16_of_float(got.p[i]));
		}
	}
}
END_TEST

START_TEST(sets_agree_bit_for_bit)
{
	static struct data want, got;
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	static const size_t sizes[] = {0, 1, 15, 16, 31, 32, 33, 64, 100, N};
	for (size_t s = 0; s < n_sets; s++)
		for (size_t variant = 0; variant < 4; variant++)
			for (size_t size = 0; size < N_ELEMENTS(sizes); size++)
				for (size_t offset = 0; offset < OFFSETS; offset++) {
					const enum grad_kind grad = variant & 1 ? GRAD_BF16 : GRAD_FP32;
					const size_t has_out = variant >> 1;
					fill(&want);
					fill(&got);
					const struct adam_arrays a = arrays_of(&want, offset, grad),
								 b = arrays_of(&got, offset, grad);
					kernels_scalar.adam[grad][has_out](&a, 0, sizes[size]);
					list[s]->adam[grad][has_out](&b, 0, sizes[size]);
					ck_assert_msg(memcmp(&want, &got, sizeof want) == 0,
					    "%s variant %zu n %zu offset %zu", list[s]->name, variant, sizes[size], offset);
				}
}
END_TEST

/* ---- split master parameters */

static uint32_t bits_of(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float float_of(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Every high half with the low halves around a tie and at both ends. */
enum { N_LOWS = 6 };
static float split_value(uint32_t high, size_t low)
{
	static const uint32_t lows[N_LOWS] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
	return float_of(high << 16 | lows[low]);
}

START_TEST(split_loses_nothing)
{
	for (uint32_t high = 0; high <= 0xffff; high++) {
		for (size_t low = 0; low < N_LOWS; low++) {
			const float p = split_value(high, low);
			const uint16_t hi = split_hi(p), lo = split_lo(p);
			ck_assert_uint_eq(lo, bits_of(p) & 0xffff);
			if (isnan(p)) {
				ck_assert(isnan(split_join(hi, lo)));
				ck_assert(isnan(float_of_bf16(hi)));
				continue;
			}
			ck_assert_uint_eq(bits_of(split_join(hi, lo)), bits_of(p));
			if (bits_of(p) << 16 != 0x80000000U) /* no tie */
				ck_assert_uint_eq(hi, bf16_of_float(p));
			if ((high & 0x7fff) >= 0x7f7f)
				continue;
			/* the nearer neighbour, of two equally near the greater in magnitude */
			const double below = (double)float_of(high << 16), above = (double)float_of((high + 1) << 16);
			const double nearer = fabs((double)p - below) < fabs(above - (double)p) ? below : above;
			ck_assert_double_eq((double)float_of_bf16(hi), nearer);
		}
	}
}
END_TEST

static bool same_number(float a, float b)
{
	return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

/* Zeros, subnormals, the largest numbers, infinities and NaN, each with low halves around a tie; last in m and g too. */
static void make_special(struct data *data)
{
	static const uint32_t highs[] = {0x0000, 0x0001, 0x007f, 0x0080, 0x3f80, 0x7f7f, 0x7f80, 0x7fc0, 0x7fff};
	enum { N_HIGHS = N_ELEMENTS(highs), N_SPECIAL = 2 * N_HIGHS * N_LOWS };
	for (size_t i = 0; i < N_SPECIAL; i++) {
		const float p = split_value(highs[i / 2 % N_HIGHS] | (i % 2 ? 0x8000U : 0), i / 2 / N_HIGHS);
		data->p[i] = p;
		data->hi[i] = split_hi(p);
		data->lo[i] = split_lo(p);
	}
	static const float odd[] = {INFINITY, -INFINITY, NAN, 1e-41F, -1e-41F, 3e38F};
	for (size_t i = 0; i < N_ELEMENTS(odd); i++) {
		data->m[N_SPECIAL + i] = odd[i];
		data->g16[N_SPECIAL + N_ELEMENTS(odd) + i] = bf16_of_float(odd[i]);
		data->g[N_SPECIAL + N_ELEMENTS(odd) + i] = float_of_bf16(bf16_of_float(odd[i]));
	}
}

static void split_as_whole(const struct kernel_set *set, enum grad_kind grad, size_t n, size_t offset, bool is_special)
{
	static struct data whole, split;
	fill(&whole);
	if (is_special)
		make_special(&whole);
	split = whole;
	const struct adam_arrays a = arrays_of(&whole, offset, grad), b = arrays_of(&split, offset, grad);
	kernels_scalar.adam[grad][0](&a, 0, n);
	set->adam_split[grad](&b, 0, n);
	for (size_t i = 0; i < N + OFFSETS; i++) {
		const float p = split_join(split.hi[i], split.lo[i]);
		ck_assert_msg(same_number(split.m[i], whole.m[i]) && same_number(split.v[i], whole.v[i]) &&
			same_number(p, whole.p[i]),
		    "%s grads %d n %zu offset %zu at %zu: p %g, want %g", set->name, (int)grad, n, offset, i, (double)p,
		    (double)whole.p[i]);
		if (!isnan(p)) {
			ck_assert_uint_eq(split.hi[i], split_hi(whole.p[i]));
			ck_assert_uint_eq(split.lo[i], split_lo(whole.p[i]));
		}
	}
	for (size_t i = 0; i < N + OFFSETS; i++)
		ck_assert_uint_eq(split.out[i], 0xffff);
}

START_TEST(split_adam_is_adam)
{
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	static const size_t sizes[] = {0, 1, 15, 16, 31, 32, 33, 64, 100, N};
	for (size_t s = 0; s < n_sets; s++)
		for (enum grad_kind grad = GRAD_FP32; grad <= GRAD_BF16; grad++)
			for (size_t size = 0; size < N_ELEMENTS(sizes); size++)
				for (size_t offset = 0; offset < OFFSETS; offset++) {
					split_as_whole(list[s], grad, sizes[size], offset, false);
					split_as_whole(list[s], grad, sizes[size], offset, true);
				}
}
END_TEST

/* Bit for bit, of NaN too; a step that changes no parameter gives the halves back. */
START_TEST(split_sets_agree)
{
	static struct data start, want, got;
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	fill(&start);
	make_special(&start);
	for (size_t s = 0; s < n_sets; s++)
		for (int still = 0; still <= 1; still++)
			for (enum grad_kind grad = GRAD_FP32; grad <= GRAD_BF16; grad++) {
				want = got = start;
				struct adam_arrays a = arrays_of(&want, 0, grad), b = arrays_of(&got, 0, grad);
				if (still) {
					a.step.decay = b.step.decay = 1;
					a.step.negative_step_size = b.step.negative_step_size = 0;
				}
				kernels_scalar.adam_split[grad](&a, 0, N);
				list[s]->adam_split[grad](&b, 0, N);
				ck_assert_msg(memcmp(&want, &got, sizeof want) == 0, "%s still %d", list[s]->name, still);
				for (size_t i = 0; i < 100 && still; i++)
					if (!isnan(start.p[i]) && start.p[i] != 0)
						ck_assert(got.hi[i] == start.hi[i] && got.lo[i] == start.lo[i]);
			}
}
END_TEST

/* ---- 16 bits */

/* The float between the largest fp16 and infinity, halves of steps, subnormals, NaN. */
static const struct {
	float value;
	uint16_t bf16, fp16;
} halves[] = {
    {0.0F, 0x0000, 0x0000},
    {-0.0F, 0x8000, 0x8000},
    {1.0F, 0x3f80, 0x3c00},
    {-2.5F, 0xc020, 0xc100},
    {1.00390625F, 0x3f80, 0x3c04},
    {1.01171875F, 0x3f82, 0x3c0c},
    {65504.0F, 0x4780, 0x7bff},
    {65519.0F, 0x4780, 0x7bff},
    {65520.0F, 0x4780, 0x7c00},
    {1e6F, 0x4974, 0x7c00},
    {0x1p-24F, 0x3380, 0x0001},
    {0x1p-25F, 0x3300, 0x0000},
    {0x1.8p-24F, 0x33c0, 0x0002},
    {0x1p-14F, 0x3880, 0x0400},
    {0x1.ffcp-15F, 0x3880, 0x0400},
    {INFINITY, 0x7f80, 0x7c00},
};

START_TEST(sixteen_bits)
{
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	enum { COPIES = 4, M = COPIES * N_ELEMENTS(halves) };
	static _Alignas(64) float values[M];
	static _Alignas(64) uint16_t bits[M];
	for (size_t i = 0; i < M; i++)
		values[i] = halves[i % N_ELEMENTS(halves)].value;
	for (size_t s = 0; s < n_sets; s++) {
		for (int kind = HALF_BF16; kind <= HALF_FP16; kind++) {
			const struct stream_arrays arrays = {.b = values, .half = bits};
			list[s]->downscale[kind](&arrays, 0, M);
			for (size_t i = 0; i < M; i++) {
				const uint16_t want = kind == HALF_BF16 ? halves[i % N_ELEMENTS(halves)].bf16
									: halves[i % N_ELEMENTS(halves)].fp16;
				ck_assert_msg(bits[i] == want, "%s kind %d: %g is %#x, want %#x", list[s]->name, kind,
				    (double)values[i], bits[i], want);
			}
		}
	}
	ck_assert_uint_eq(bf16_of_float(NAN) & 0x7fc0, 0x7fc0);
	ck_assert_uint_eq(fp16_of_float(NAN) & 0x7e00, 0x7e00);
	for (uint32_t half = 0; half < 0x7f80; half++)
		ck_assert_uint_eq(bf16_of_float(float_of_bf16((uint16_t)half)), half);
}
END_TEST

START_TEST(streams)
{
	static struct data data, start;
	const struct kernel_set *list[3];
	const size_t n_sets = sets(list);
	fill(&start);
	for (size_t s = 0; s < n_sets; s++) {
		data = start;
		const struct stream_arrays arrays = {.a = data.m, .b = data.p, .c = data.g, .factor = 0.25F};
		list[s]->unscale(&arrays, 1, N);
		for (size_t i = 1; i < N; i++)
			ck_assert_float_eq(data.m[i], 0.25F * start.m[i]);
		ck_assert_float_eq(data.m[0], start.m[0]);
		list[s]->copy(&arrays, 0, N);
		ck_assert_int_eq(memcmp(data.m, start.p, N * sizeof(float)), 0);
		list[s]->triad(&arrays, 0, N);
		for (size_t i = 0; i < N; i++)
			ck_assert_float_eq(data.m[i], fmaf(0.25F, start.g[i], start.p[i]));
		ck_assert_float_eq(data.m[N], start.m[N]);
	}
}
END_TEST

/* ---- team */

struct counts {
	int done[1000];
};

static void count(void *context, size_t begin, size_t end)
{
	struct counts *const counts = context;
	for (size_t i = begin; i < end; i++)
		counts->done[i]++;
}

START_TEST(every_item_once)
{
	for (int members = 1; members <= 5; members += 2) {
		struct team *const team = team_new(members, NULL);
		static struct counts counts;
		memset(&counts, 0, sizeof counts);
		for (size_t round = 0; round < 200; round++)
			team_run(team, &(struct team_work){count, &counts, 1000, round % 2 ? 64 : 1});
		for (size_t i = 0; i < 1000; i++)
			ck_assert_int_eq(counts.done[i], 200);
		ck_assert_int_eq(team_size(team), members);
		team_free(team);
	}
}
END_TEST

START_TEST(pieces_are_whole_grains)
{
	const struct team_work work = {.n = 1000, .grain = 64};
	size_t last = 0;
	for (int member = 0; member < 7; member++) {
		size_t begin, end;
		team_piece(&begin, &end, &work, member, 7);
		ck_assert_uint_eq(begin, last);
		ck_assert_uint_eq(begin % 64, 0);
		last = end;
	}
	ck_assert_uint_eq(last, 1000);
}
END_TEST

Suite *probe_kernels_suite(void)
{
	Suite *const suite = suite_create("probe_kernels");
	TCase *const core = tcase_create("core"), *const team = tcase_create("team");
	tcase_add_test(core, adam_follows_the_double_reference);
	tcase_add_test(core, sets_agree_bit_for_bit);
	tcase_add_test(core, split_loses_nothing);
	tcase_add_test(core, split_adam_is_adam);
	tcase_add_test(core, split_sets_agree);
	tcase_add_test(core, sixteen_bits);
	tcase_add_test(core, streams);
	tcase_add_test(team, every_item_once);
	tcase_add_test(team, pieces_are_whole_grains);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, team);
	return suite;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VECTOR __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define VECTOR_NAME "avx512"
enum { LANES = 16 };
typedef __m512 vec;

VECTOR static inline vec v_set(float value)
{
	return _mm512_set1_ps(value);
}

VECTOR static inline vec v_load(const float *from)
{
	return _mm512_loadu_ps(from);
}

VECTOR static inline void v_store(float *to, vec value)
{
	_mm512_storeu_ps(to, value);
}

VECTOR static inline void v_stream(float *to, vec value)
{
	_mm512_stream_ps(to, value);
}

VECTOR static inline vec v_add(vec a, vec b)
{
	return _mm512_add_ps(a, b);
}

VECTOR static inline vec v_mul(vec a, vec b)
{
	return _mm512_mul_ps(a, b);
}

VECTOR static inline vec v_div(vec a, vec b)
{
	return _mm512_div_ps(a, b);
}

VECTOR static inline vec v_fma(vec a, vec b, vec c)
{
	return _mm512_fmadd_ps(a, b, c);
}

VECTOR static inline vec v_sqrt(vec a)
{
	return _mm512_sqrt_ps(a);
}

VECTOR static inline vec v_load_bf16(const uint16_t *from)
{
	const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)from));
	return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

/* Round to nearest even; a NaN stays one, quiet. */
VECTOR static inline __m256i bf16_of(vec value)
{
	const __m512i bits = _mm512_castps_si512(value);
	const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
	const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
	const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
	const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
	return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, is_nan, quiet), 16));
}

VECTOR static inline void v_store_bf16(uint16_t *to, const vec values[2], int past_cache)
{
	const __m512i low = _mm512_castsi256_si512(bf16_of(values[0]));
	const __m512i both = _mm512_inserti64x4(low, bf16_of(values[1]), 1);
	if (past_cache)
		_mm512_stream_si512((__m512i *)(void *)to, both);
	else
		_mm512_storeu_si512(to, both);
}

VECTOR static inline vec v_load_split(const uint16_t *hi, const uint16_t *lo)
{
	const __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)hi));
	const __m512i low = _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)lo));
	return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_slli_epi32(high, 16), low));
}

/* The high halves are those of this. Ties away from zero; a NaN stays one, quiet. */
VECTOR static inline __m512i round_to_hi(vec value)
{
	const __m512i bits = _mm512_castps_si512(value);
	const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
	const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
	return _mm512_mask_mov_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x8000)), is_nan, quiet);
}

VECTOR static inline void v_store_split(uint16_t *hi, uint16_t *lo, const vec values[2])
{
	static const uint16_t even[32] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
	    44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
	const __m512i low = _mm512_loadu_si512(even), high = _mm512_add_epi16(low, _mm512_set1_epi16(1));
	const __m512i first = round_to_hi(values[0]), second = round_to_hi(values[1]);
	_mm512_storeu_si512(hi, _mm512_permutex2var_epi16(first, high, second));
	const __m512i bits = _mm512_castps_si512(values[0]), more_bits = _mm512_castps_si512(values[1]);
	_mm512_storeu_si512(lo, _mm512_permutex2var_epi16(bits, low, more_bits));
}

VECTOR static inline void v_store_fp16(uint16_t *to, vec value, int past_cache)
{
	/* All lanes: without optimization _mm512_cvtps_ph is a macro that gcc 12 warns of. */
	const __m256i half = _mm512_maskz_cvtps_ph((__mmask16)0xffff, value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	if (past_cache)
		_mm256_stream_si256((__m256i *)(void *)to, half);
	else
		_mm256_storeu_si256((__m256i *)(void *)to, half);
}

static inline void v_fence(void)
{
	_mm_sfence();
}

#include "probe/kernels_body.inc"

const struct kernel_set *kernels_avx512(void)
{
	__builtin_cpu_init();
	const int has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
	return has ? &vector_kernels : NULL;
}

#else

const struct kernel_set *kernels_avx512(void)
{
	return NULL;
}

#endif

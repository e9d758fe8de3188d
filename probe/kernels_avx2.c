/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VECTOR __attribute__((target("avx2,fma,f16c")))
#define VECTOR_NAME "avx2"
enum { LANES = 8 };
typedef __m256 vec;

VECTOR static inline vec v_set(float value)
{
	return _mm256_set1_ps(value);
}

VECTOR static inline vec v_load(const float *from)
{
	return _mm256_loadu_ps(from);
}

VECTOR static inline void v_store(float *to, vec value)
{
	_mm256_storeu_ps(to, value);
}

VECTOR static inline void v_stream(float *to, vec value)
{
	_mm256_stream_ps(to, value);
}

VECTOR static inline vec v_add(vec a, vec b)
{
	return _mm256_add_ps(a, b);
}

VECTOR static inline vec v_mul(vec a, vec b)
{
	return _mm256_mul_ps(a, b);
}

VECTOR static inline vec v_div(vec a, vec b)
{
	return _mm256_div_ps(a, b);
}

VECTOR static inline vec v_fma(vec a, vec b, vec c)
{
	return _mm256_fmadd_ps(a, b, c);
}

VECTOR static inline vec v_sqrt(vec a)
{
	return _mm256_sqrt_ps(a);
}

VECTOR static inline vec v_load_bf16(const uint16_t *from)
{
	const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
	return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* Round to nearest even in the low 16 bits of each lane; a NaN stays one, quiet. */
VECTOR static inline __m256i bf16_lanes(vec value)
{
	const __m256i bits = _mm256_castps_si256(value);
	const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
	const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
	const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
	const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
	return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
}

/* 16 numbers below 2^16, in order: packus works within 128-bit halves. */
VECTOR static inline __m256i pack16(__m256i first, __m256i second)
{
	return _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
}

VECTOR static inline void v_store_bf16(uint16_t *to, const vec values[4], int past_cache)
{
	for (int i = 0; i < 2; i++) {
		const __m256i ordered = pack16(bf16_lanes(values[2 * i]), bf16_lanes(values[2 * i + 1]));
		__m256i *const at = (__m256i *)(void *)(to + 16 * i);
		if (past_cache)
			_mm256_stream_si256(at, ordered);
		else
			_mm256_storeu_si256(at, ordered);
	}
}

VECTOR static inline vec v_load_split(const uint16_t *hi, const uint16_t *lo)
{
	const __m256i high = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)hi));
	const __m256i low = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)lo));
	return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(high, 16), low));
}

/* Ties away from zero; a NaN stays one, quiet. */
VECTOR static inline __m256i hi_lanes(vec value)
{
	const __m256i bits = _mm256_castps_si256(value);
	const __m256i rounded = _mm256_add_epi32(bits, _mm256_set1_epi32(0x8000));
	const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
	const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
	return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
}

VECTOR static inline __m256i lo_lanes(vec value)
{
	return _mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(0xffff));
}

VECTOR static inline void v_store_split(uint16_t *hi, uint16_t *lo, const vec values[4])
{
	for (int i = 0; i < 2; i++) {
		const vec first = values[2 * i], second = values[2 * i + 1];
		_mm256_storeu_si256((__m256i *)(void *)(hi + 16 * i), pack16(hi_lanes(first), hi_lanes(second)));
		_mm256_storeu_si256((__m256i *)(void *)(lo + 16 * i), pack16(lo_lanes(first), lo_lanes(second)));
	}
}

VECTOR static inline void v_store_fp16(uint16_t *to, vec value, int past_cache)
{
	const __m128i half = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	if (past_cache)
		_mm_stream_si128((__m128i *)(void *)to, half);
	else
		_mm_storeu_si128((__m128i *)(void *)to, half);
}

static inline void v_fence(void)
{
	_mm_sfence();
}

#include "probe/kernels_body.inc"

const struct kernel_set *kernels_avx2(void)
{
	__builtin_cpu_init();
	/* F16C came with AVX2 on every processor that has both AVX2 and FMA. */
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &vector_kernels : NULL;
}

#else

const struct kernel_set *kernels_avx2(void)
{
	return NULL;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kernels: the CPU kernels of the update, hand-vectorised for AVX-512 and AVX2 with a scalar fallback.
 *
 * Invariant: all sets give the same bits: the operations of each element are the same IEEE operations in the same order
 * (explicit fused multiply-adds, correctly rounded square root and division), here and on the GPU. Every kernel works on
 * elements [begin, end) of its arrays. KERNEL_.._BYTES are its DRAM traffic per element.
 *
 * Split master parameters: the fp32 parameter p is kept as two halves of 16 bits, and nothing is lost. `hi` is the bf16
 * parameter, which the model computes with and the GPU holds anyway; `lo` are the low bits:
 *   hi = (bits(p) + 0x8000) >> 16,  lo = bits(p) & 0xffff,  bits(p) = (hi << 16) + sign_extend(lo)  (modulo 2^32)
 * hi is p rounded to nearest, ties away from zero; elsewhere here ties go to even, and only exact ties differ. A NaN keeps
 * its low bits and is quiet in hi, so it stays a NaN. Idea: D. Kalamkar et al., "Optimizing deep learning recommender
 * systems' training on CPU cluster architectures", 2020 (split SGD with bf16). There it saves memory, here traffic: a
 * subgroup that the GPU updates fetches and writes back m, v, lo, 10 bytes a parameter instead of 12; Adam on the CPU moves
 * 26 bytes instead of 28.
 */
#ifndef PROBE_KERNELS_H
#define PROBE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum grad_kind { GRAD_FP32, GRAD_BF16 };
enum half_kind { HALF_BF16, HALF_FP16 };

/* AdamW of one step:  g' = g inv_scale;  m = beta1 m + (1 - beta1) g';  v = beta2 v + ((1 - beta2) g') g';
 * p = decay p - step_size m / (sqrt(v) inv_sqrt_bias2 + eps). */
struct adam_step {
	float inv_scale; /* of the gradients */
	float beta1, one_minus_beta1, beta2, one_minus_beta2;
	float decay; /* 1 - lr weight_decay */
	float negative_step_size; /* -lr / (1 - beta1^t) */
	float inv_sqrt_bias2; /* 1 / sqrt(1 - beta2^t) */
	float eps;
};

/* Of step t >= 1 with the usual hyperparameters. */
struct adam_step adam_step_of(int t, float inv_scale);

struct adam_arrays {
	float *m, *v, *p; /* p: not of adam_split */
	const void *g; /* fp32 or bf16 */
	uint16_t *out; /* bf16 copy of p, or NULL: a variant without it; written past the cache where aligned to 64 bytes */
	uint16_t *hi, *lo; /* halves of p, read and written: of adam_split alone */
	struct adam_step step;
};

struct stream_arrays {
	float *a;
	const float *b, *c;
	uint16_t *half;
	float factor;
};

struct kernel_set {
	const char *name; /* "avx512", "avx2", "scalar" */
	void (*adam[2][2])(const struct adam_arrays *, size_t begin, size_t end); /* [enum grad_kind][has out] */
	void (*adam_split[2])(const struct adam_arrays *, size_t begin, size_t end); /* [enum grad_kind] */
	void (*adam_stream)(
	    const struct adam_arrays *, size_t begin, size_t end); /* four reads, three writes, little else */
	void (*downscale[2])(const struct stream_arrays *, size_t begin, size_t end); /* half = b; past the cache */
	void (*unscale)(const struct stream_arrays *, size_t begin, size_t end); /* a = a factor, in place */
	void (*copy)(const struct stream_arrays *, size_t begin, size_t end); /* a = b; past the cache */
	void (*triad)(const struct stream_arrays *, size_t begin, size_t end); /* a = b + factor c; past the cache */
};

extern const struct kernel_set kernels_scalar;
/* NULL where the build or the processor does not have it. */
const struct kernel_set *kernels_avx2(void);
const struct kernel_set *kernels_avx512(void);
/* The widest set of this processor. */
const struct kernel_set *kernels_best(void);

/* A kernel with its arrays, as the context of a struct team_work. */
struct adam_call {
	void (*kernel)(const struct adam_arrays *, size_t begin, size_t end);
	struct adam_arrays arrays;
};
struct stream_call {
	void (*kernel)(const struct stream_arrays *, size_t begin, size_t end);
	struct stream_arrays arrays;
};
void adam_call_run(void *call, size_t begin, size_t end);
void stream_call_run(void *call, size_t begin, size_t end);

/* Elements at whose multiples arrays are best split. */
enum { KERNEL_GRAIN = 64 };

/* DRAM bytes per element, counted: loads, plus stores once where they go past the cache or hit lines just loaded. */
#define KERNEL_ADAM_BYTES(grad_fp32, has_out) (24.0 + ((grad_fp32) ? 4 : 2) + ((has_out) ? 2 : 0))
#define KERNEL_ADAM_SPLIT_BYTES(grad_fp32) (24.0 + ((grad_fp32) ? 4 : 2))
#define KERNEL_UNSCALE_BYTES 8.0
#define KERNEL_DOWNSCALE_BYTES 6.0
#define KERNEL_COPY_BYTES 8.0
#define KERNEL_TRIAD_BYTES 12.0

uint16_t bf16_of_float(float value); /* round to nearest even */
float float_of_bf16(uint16_t bits);
uint16_t fp16_of_float(float value); /* round to nearest even, overflow to infinity */
uint16_t split_hi(float value);
uint16_t split_lo(float value);
float split_join(uint16_t hi, uint16_t lo);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct adam_step adam_step_of(int t, float inv_scale)
{
	const double beta1 = 0.9, beta2 = 0.999, lr = 1e-3, weight_decay = 0.01;
	return (struct adam_step){.inv_scale = inv_scale,
	    .beta1 = (float)beta1,
	    .one_minus_beta1 = (float)(1 - beta1),
	    .beta2 = (float)beta2,
	    .one_minus_beta2 = (float)(1 - beta2),
	    .decay = (float)(1 - lr * weight_decay),
	    .negative_step_size = (float)(-lr / (1 - pow(beta1, t))),
	    .inv_sqrt_bias2 = (float)(1 / sqrt(1 - pow(beta2, t))),
	    .eps = 1e-8F};
}

uint16_t bf16_of_float(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	if (isnan(value))
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float_of_bf16(uint16_t half)
{
	const uint32_t bits = (uint32_t)half << 16;
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

uint16_t fp16_of_float(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	const uint32_t magnitude = bits & 0x7fffffff;
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
	if (magnitude >= 0x47800000) /* 65536 and above */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) /* below 2^-14: subnormal; the sum rounds to a multiple of 2^-24 */
		return (uint16_t)(sign | (uint16_t)lrintf(fabsf(value) * 0x1p24F));
	const uint32_t rounded = magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1);
	return (uint16_t)(sign | (uint16_t)(rounded >> 13)); /* 65520 and above carry into infinity */
}

uint16_t split_hi(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return (uint16_t)(isnan(value) ? bits >> 16 | 0x40 : (bits + 0x8000) >> 16);
}

uint16_t split_lo(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return (uint16_t)bits;
}

float split_join(uint16_t hi, uint16_t lo)
{
	const uint32_t bits = ((uint32_t)hi << 16) + (lo ^ 0x8000U) - 0x8000U; /* lo with its sign */
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline float adam_element(float *m, float *v, float *p, float raw_gradient, const struct adam_step *step)
{
	const float g = raw_gradient * step->inv_scale;
	*m = fmaf(step->beta1, *m, step->one_minus_beta1 * g);
	*v = fmaf(step->beta2, *v, (step->one_minus_beta2 * g) * g);
	const float denominator = fmaf(sqrtf(*v), step->inv_sqrt_bias2, step->eps);
	*p = fmaf(step->negative_step_size, *m / denominator, *p * step->decay);
	return *p;
}

static void adam_fp32(const struct adam_arrays *x, size_t begin, size_t end)
{
	const float *g = x->g;
	for (size_t i = begin; i < end; i++)
		adam_element(&x->m[i], &x->v[i], &x->p[i], g[i], &x->step);
}

static void adam_bf16(const struct adam_arrays *x, size_t begin, size_t end)
{
	const uint16_t *g = x->g;
	for (size_t i = begin; i < end; i++)
		adam_element(&x->m[i], &x->v[i], &x->p[i], float_of_bf16(g[i]), &x->step);
}

static void adam_fp32_out(const struct adam_arrays *x, size_t begin, size_t end)
{
	const float *g = x->g;
	for (size_t i = begin; i < end; i++)
		x->out[i] = bf16_of_float(adam_element(&x->m[i], &x->v[i], &x->p[i], g[i], &x->step));
}

static void adam_bf16_out(const struct adam_arrays *x, size_t begin, size_t end)
{
	const uint16_t *g = x->g;
	for (size_t i = begin; i < end; i++)
		x->out[i] = bf16_of_float(adam_element(&x->m[i], &x->v[i], &x->p[i], float_of_bf16(g[i]), &x->step));
}

static inline void split_element(const struct adam_arrays *x, size_t i, float raw_gradient)
{
	float p = split_join(x->hi[i], x->lo[i]);
	adam_element(&x->m[i], &x->v[i], &p, raw_gradient, &x->step);
	x->hi[i] = split_hi(p);
	x->lo[i] = split_lo(p);
}

static void adam_split_fp32(const struct adam_arrays *x, size_t begin, size_t end)
{
	const float *g = x->g;
	for (size_t i = begin; i < end; i++)
		split_element(x, i, g[i]);
}

static void adam_split_bf16(const struct adam_arrays *x, size_t begin, size_t end)
{
	const uint16_t *g = x->g;
	for (size_t i = begin; i < end; i++)
		split_element(x, i, float_of_bf16(g[i]));
}

static void adam_stream(const struct adam_arrays *x, size_t begin, size_t end)
{
	const float *g = x->g;
	for (size_t i = begin; i < end; i++) {
		x->m[i] += g[i];
		x->v[i] += g[i];
		x->p[i] += g[i];
	}
}

static void downscale_bf16(const struct stream_arrays *x, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		x->half[i] = bf16_of_float(x->b[i]);
}

static void downscale_fp16(const struct stream_arrays *x, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		x->half[i] = fp16_of_float(x->b[i]);
}

static void unscale(const struct stream_arrays *x, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		x->a[i] *= x->factor;
}

static void copy(const struct stream_arrays *x, size_t begin, size_t end)
{
	memcpy(x->a + begin, x->b + begin, (end - begin) * sizeof x->a[0]);
}

static void triad(const struct stream_arrays *x, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		x->a[i] = fmaf(x->factor, x->c[i], x->b[i]);
}

const struct kernel_set kernels_scalar = {.name = "scalar",
    .adam = {{adam_fp32, adam_fp32_out}, {adam_bf16, adam_bf16_out}},
    .adam_split = {adam_split_fp32, adam_split_bf16},
    .adam_stream = adam_stream,
    .downscale = {downscale_bf16, downscale_fp16},
    .unscale = unscale,
    .copy = copy,
    .triad = triad};

const struct kernel_set *kernels_best(void)
{
	const struct kernel_set *const wide = kernels_avx512() ? kernels_avx512() : kernels_avx2();
	return wide ? wide : &kernels_scalar;
}

void adam_call_run(void *context, size_t begin, size_t end)
{
	const struct adam_call *const call = context;
	call->kernel(&call->arrays, begin, end);
}

void stream_call_run(void *context, size_t begin, size_t end)
{
	const struct stream_call *const call = context;
	call->kernel(&call->arrays, begin, end);
}

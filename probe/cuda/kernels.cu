/* SPDX-License-Identifier: GPL-3.0-or-later
 * GPU kernels of the update: 16-byte accesses, one group of four elements a thread; the arithmetic of probe/kernels.h. */
#include <cuda_runtime.h>

#include "probe/cuda/cuda_cases.h"
#include "probe/cuda/gpu_state.h"

enum { BLOCK_THREADS = 256 };

static cudaStream_t stream_of(struct gpu_stream *stream)
{
	return (cudaStream_t)(void *)stream;
}

static unsigned blocks_of(size_t n_items)
{
	const size_t n_blocks = (n_items + BLOCK_THREADS - 1) / BLOCK_THREADS;
	return n_blocks ? (unsigned)n_blocks : 1U;
}

static void check_launch(struct gpu *gpu)
{
	const cudaError_t status = cudaGetLastError();
	if (status != cudaSuccess)
		gpu_fail(gpu, "kernel launch", cudaGetErrorString(status));
}

__device__ static unsigned narrow(float value)
{
	const unsigned bits = __float_as_uint(value);
	if (value != value)
		return (bits | 0x400000U) >> 16;
	return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}

__device__ static unsigned hi_of(float value)
{
	const unsigned bits = __float_as_uint(value);
	return (value != value ? bits | 0x400000U : bits + 0x8000U) >> 16;
}

__device__ static unsigned lo_of(float value)
{
	return __float_as_uint(value) & 0xffffU;
}

/* lo with its sign */
__device__ static float join(unsigned hi, unsigned lo)
{
	return __uint_as_float((hi << 16) + (lo ^ 0x8000U) - 0x8000U);
}

/* Four numbers of 16 bits. */
__device__ static float4 widen_group(const uint2 bits)
{
	return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000U), __uint_as_float(bits.y << 16),
	    __uint_as_float(bits.y & 0xffff0000U));
}

__device__ static float4 join_group(const uint2 hi, const uint2 lo)
{
	return make_float4(join(hi.x & 0xffffU, lo.x & 0xffffU), join(hi.x >> 16, lo.x >> 16),
	    join(hi.y & 0xffffU, lo.y & 0xffffU), join(hi.y >> 16, lo.y >> 16));
}

__device__ static float adam_element(float *m, float *v, float p, float raw_gradient, const struct adam_step &step)
{
	const float g = __fmul_rn(raw_gradient, step.inv_scale);
	*m = __fmaf_rn(step.beta1, *m, __fmul_rn(step.one_minus_beta1, g));
	*v = __fmaf_rn(step.beta2, *v, __fmul_rn(__fmul_rn(step.one_minus_beta2, g), g));
	const float denominator = __fmaf_rn(__fsqrt_rn(*v), step.inv_sqrt_bias2, step.eps);
	return __fmaf_rn(step.negative_step_size, __fdiv_rn(*m, denominator), __fmul_rn(p, step.decay));
}

__device__ static void adam_group(float4 *m, float4 *v, float4 *p, const float4 g, const struct adam_step &step)
{
	p->x = adam_element(&m->x, &v->x, p->x, g.x, step);
	p->y = adam_element(&m->y, &v->y, p->y, g.y, step);
	p->z = adam_element(&m->z, &v->z, p->z, g.z, step);
	p->w = adam_element(&m->w, &v->w, p->w, g.w, step);
}

__global__ static void adam_kernel(struct adam_arrays x, size_t n)
{
	const size_t group = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x, i = 4 * group;
	if (i + 4 <= n) {
		float4 m = ((float4 *)x.m)[group], v = ((float4 *)x.v)[group], p = ((float4 *)x.p)[group];
		adam_group(&m, &v, &p, ((const float4 *)x.g)[group], x.step);
		((float4 *)x.m)[group] = m;
		((float4 *)x.v)[group] = v;
		((float4 *)x.p)[group] = p;
		if (x.out)
			((uint2 *)x.out)[group] = make_uint2(narrow(p.x) | narrow(p.y) << 16, narrow(p.z) | narrow(p.w) << 16);
		return;
	}
	for (size_t j = i; j < n; j++) {
		x.p[j] = adam_element(&x.m[j], &x.v[j], x.p[j], ((const float *)x.g)[j], x.step);
		if (x.out)
			x.out[j] = (uint16_t)narrow(x.p[j]);
	}
}

__global__ static void adam_split_kernel(struct adam_arrays x, size_t n)
{
	const size_t group = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x, i = 4 * group;
	const uint16_t *const g = (const uint16_t *)x.g;
	if (i + 4 <= n) {
		float4 m = ((float4 *)x.m)[group], v = ((float4 *)x.v)[group];
		float4 p = join_group(((uint2 *)x.hi)[group], ((uint2 *)x.lo)[group]);
		adam_group(&m, &v, &p, widen_group(((const uint2 *)g)[group]), x.step);
		((float4 *)x.m)[group] = m;
		((float4 *)x.v)[group] = v;
		((uint2 *)x.hi)[group] = make_uint2(hi_of(p.x) | hi_of(p.y) << 16, hi_of(p.z) | hi_of(p.w) << 16);
		((uint2 *)x.lo)[group] = make_uint2(lo_of(p.x) | lo_of(p.y) << 16, lo_of(p.z) | lo_of(p.w) << 16);
		return;
	}
	for (size_t j = i; j < n; j++) {
		const float raw = __uint_as_float((unsigned)g[j] << 16);
		const float p = adam_element(&x.m[j], &x.v[j], join(x.hi[j], x.lo[j]), raw, x.step);
		x.hi[j] = (uint16_t)hi_of(p);
		x.lo[j] = (uint16_t)lo_of(p);
	}
}

__global__ static void widen_kernel(float *to, const uint16_t *from, size_t n)
{
	const size_t group = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x, i = 4 * group;
	if (i + 4 <= n) {
		((float4 *)to)[group] = widen_group(((const uint2 *)from)[group]);
		return;
	}
	for (size_t j = i; j < n; j++)
		to[j] = __uint_as_float((unsigned)from[j] << 16);
}

__global__ static void narrow_kernel(uint16_t *to, const float *from, size_t n)
{
	const size_t group = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x, i = 4 * group;
	if (i + 4 <= n) {
		const float4 p = ((const float4 *)from)[group];
		((uint2 *)to)[group] = make_uint2(narrow(p.x) | narrow(p.y) << 16, narrow(p.z) | narrow(p.w) << 16);
		return;
	}
	for (size_t j = i; j < n; j++)
		to[j] = (uint16_t)narrow(from[j]);
}

__global__ static void triad_kernel(float4 *a, const float4 *b, const float4 *c, float factor, size_t n_groups)
{
	const size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
	if (i >= n_groups)
		return;
	const float4 x = b[i], y = c[i];
	a[i] = make_float4(x.x + factor * y.x, x.y + factor * y.y, x.z + factor * y.z, x.w + factor * y.w);
}

__global__ static void copy_kernel(float4 *to, const float4 *from, size_t n_groups)
{
	const size_t i = (size_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
	if (i < n_groups)
		to[i] = from[i];
}

__global__ static void empty_kernel(void)
{
}

void gpu_adam(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	adam_kernel<<<blocks_of((n + 3) / 4), BLOCK_THREADS, 0, stream_of(stream)>>>(*arrays, n);
	check_launch(gpu);
}

void gpu_adam_split(struct gpu *gpu, struct gpu_stream *stream, const struct adam_arrays *arrays, size_t n)
{
	adam_split_kernel<<<blocks_of((n + 3) / 4), BLOCK_THREADS, 0, stream_of(stream)>>>(*arrays, n);
	check_launch(gpu);
}

void gpu_widen_bf16(struct gpu *gpu, struct gpu_stream *stream, float *to, const uint16_t *from, size_t n)
{
	widen_kernel<<<blocks_of((n + 3) / 4), BLOCK_THREADS, 0, stream_of(stream)>>>(to, from, n);
	check_launch(gpu);
}

void gpu_narrow_bf16(struct gpu *gpu, struct gpu_stream *stream, uint16_t *to, const float *from, size_t n)
{
	narrow_kernel<<<blocks_of((n + 3) / 4), BLOCK_THREADS, 0, stream_of(stream)>>>(to, from, n);
	check_launch(gpu);
}

void gpu_copy(struct gpu *gpu, struct gpu_stream *stream, float *to, const float *from, size_t n)
{
	copy_kernel<<<blocks_of(n / 4), BLOCK_THREADS, 0, stream_of(stream)>>>((float4 *)to, (const float4 *)from, n / 4);
	check_launch(gpu);
}

void gpu_triad(struct gpu *gpu, struct gpu_stream *stream, float *a, const float *b, const float *c, float factor, size_t n)
{
	triad_kernel<<<blocks_of(n / 4), BLOCK_THREADS, 0, stream_of(stream)>>>(
	    (float4 *)a, (const float4 *)b, (const float4 *)c, factor, n / 4);
	check_launch(gpu);
}

void gpu_empty(struct gpu *gpu, struct gpu_stream *stream)
{
	empty_kernel<<<1, 32, 0, stream_of(stream)>>>();
	check_launch(gpu);
}

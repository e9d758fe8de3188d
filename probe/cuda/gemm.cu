/* SPDX-License-Identifier: GPL-3.0-or-later
 * bf16 GEMM: cuBLASLt opened at run time (its few declarations are repeated here: the build needs no cuBLAS), else a tiled
 * kernel of our own on the tensor cores. Source of the constants: cublasLt.h, library_types.h (stable since CUDA 11). */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mma.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe/cuda/cuda_cases.h"
#include "probe/cuda/gpu_state.h"

enum { LT_COMPUTE_32F = 68, LT_R_32F = 0, LT_R_16BF = 14, LT_PREFERENCE_WORKSPACE = 1, LT_ALGO_WORDS = 8 };

struct lt_heuristic {
	uint64_t algo[LT_ALGO_WORDS];
	size_t workspace_bytes;
	int status;
	float waves;
	int reserved[4];
};

struct lt {
	void *library;
	size_t (*version)(void);
	int (*create)(void **);
	int (*desc_create)(void **, int, int);
	int (*layout_create)(void **, int, uint64_t, uint64_t, int64_t);
	int (*preference_create)(void **);
	int (*preference_set)(void *, int, const void *, size_t);
	int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, struct lt_heuristic *, int *);
	int (*matmul)(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *, void *,
	    void *, void *, const uint64_t *, void *, size_t, cudaStream_t);
};

struct gpu_gemm {
	size_t m, n, k;
	struct lt lt;
	void *handle, *desc, *a, *b, *c, *workspace;
	size_t workspace_bytes;
	struct lt_heuristic best;
	char library[160];
};

static bool find_symbols(struct lt *lt)
{
	lt->version = (size_t (*)(void))dlsym(lt->library, "cublasLtGetVersion");
	*(void **)&lt->create = dlsym(lt->library, "cublasLtCreate");
	*(void **)&lt->desc_create = dlsym(lt->library, "cublasLtMatmulDescCreate");
	*(void **)&lt->layout_create = dlsym(lt->library, "cublasLtMatrixLayoutCreate");
	*(void **)&lt->preference_create = dlsym(lt->library, "cublasLtMatmulPreferenceCreate");
	*(void **)&lt->preference_set = dlsym(lt->library, "cublasLtMatmulPreferenceSetAttribute");
	*(void **)&lt->heuristic = dlsym(lt->library, "cublasLtMatmulAlgoGetHeuristic");
	*(void **)&lt->matmul = dlsym(lt->library, "cublasLtMatmul");
	return lt->version && lt->create && lt->desc_create && lt->layout_create && lt->preference_create &&
	    lt->preference_set && lt->heuristic && lt->matmul;
}

static const char *open_library(struct lt *lt)
{
	static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so",
	    "/usr/local/cuda/lib64/libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"};
	for (size_t i = 0; i < sizeof names / sizeof names[0] && !lt->library; i++)
		lt->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!lt->library)
		return "no libcublasLt.so.13, .12 or .11 (LD_LIBRARY_PATH names its folder)";
	return find_symbols(lt) ? NULL : "libcublasLt lacks a function";
}

/* Row-major C = A B is column-major C' = B' A': pass B first, with n rows. */
static const char *set_up(struct gpu_gemm *gemm)
{
	struct lt *lt = &gemm->lt;
	void *preference = NULL;
	int n_found = 0;
	gemm->workspace_bytes = 32 << 20;
	if (cudaMalloc(&gemm->workspace, gemm->workspace_bytes) != cudaSuccess)
		return "no workspace";
	if (lt->create(&gemm->handle) || lt->desc_create(&gemm->desc, LT_COMPUTE_32F, LT_R_32F) ||
	    lt->layout_create(&gemm->b, LT_R_16BF, gemm->n, gemm->k, (int64_t)gemm->n) ||
	    lt->layout_create(&gemm->a, LT_R_16BF, gemm->k, gemm->m, (int64_t)gemm->k) ||
	    lt->layout_create(&gemm->c, LT_R_16BF, gemm->n, gemm->m, (int64_t)gemm->n) || lt->preference_create(&preference) ||
	    lt->preference_set(preference, LT_PREFERENCE_WORKSPACE, &gemm->workspace_bytes, sizeof gemm->workspace_bytes))
		return "cuBLASLt would not start";
	if (lt->heuristic(gemm->handle, gemm->desc, gemm->b, gemm->a, gemm->c, gemm->c, preference, 1, &gemm->best, &n_found) ||
	    n_found == 0)
		return "cuBLASLt has no algorithm for this shape";
	return NULL;
}

/* One warp a 16 x 16 tile of C; shapes are multiples of 16. Slow, and named as such. */
__global__ static void own_gemm(__nv_bfloat16 *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, size_t m, size_t n, size_t k)
{
	using namespace nvcuda;
	const size_t column = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
	const size_t row = ((size_t)blockIdx.y * blockDim.y + threadIdx.y) * 16;
	__shared__ float tile[8][256];
	if (row >= m || column >= n)
		return;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
	wmma::fill_fragment(sum, 0.0F);
	for (size_t i = 0; i < k; i += 16) {
		wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
		wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
		wmma::load_matrix_sync(left, a + row * k + i, (unsigned)k);
		wmma::load_matrix_sync(right, b + i * n + column, (unsigned)n);
		wmma::mma_sync(sum, left, right, sum);
	}
	float *const mine = tile[threadIdx.y * 4 + threadIdx.x / 32];
	wmma::store_matrix_sync(mine, sum, 16, wmma::mem_row_major);
	__syncwarp();
	for (unsigned i = threadIdx.x % 32; i < 256; i += 32)
		c[(row + i / 16) * n + column + i % 16] = __float2bfloat16(mine[i]);
}

struct gpu_gemm *gpu_gemm_new(struct gpu *gpu, size_t m, size_t n, size_t k)
{
	struct gpu_gemm *gemm = (struct gpu_gemm *)calloc(1, sizeof *gemm);
	if (!gemm)
		abort();
	gemm->m = m;
	gemm->n = n;
	gemm->k = k;
	gpu_use(gpu);
	const char *reason = open_library(&gemm->lt);
	if (!reason)
		reason = set_up(gemm);
	if (reason) {
		snprintf(gemm->library, sizeof gemm->library, "own kernel: %s", reason);
		gemm->handle = NULL;
		cudaGetLastError();
	} else {
		snprintf(gemm->library, sizeof gemm->library, "cublasLt %zu", gemm->lt.version());
	}
	return gemm;
}

const char *gpu_gemm_library(const struct gpu_gemm *gemm)
{
	return gemm->library;
}

void gpu_gemm_run(struct gpu *gpu, struct gpu_stream *stream, struct gpu_gemm *gemm, uint16_t *c, const uint16_t *a,
    const uint16_t *b)
{
	const float one = 1, zero = 0;
	const cudaStream_t on = (cudaStream_t)(void *)stream;
	if (gemm->handle) {
		if (gemm->lt.matmul(gemm->handle, gemm->desc, &one, b, gemm->b, a, gemm->a, &zero, c, gemm->c, c, gemm->c,
			gemm->best.algo, gemm->workspace, gemm->workspace_bytes, on))
			gpu_fail(gpu, "cublasLtMatmul", "refused");
		return;
	}
	const dim3 threads(128, 2), blocks((unsigned)((gemm->n + 63) / 64), (unsigned)((gemm->m + 31) / 32));
	own_gemm<<<blocks, threads, 0, on>>>((__nv_bfloat16 *)c, (const __nv_bfloat16 *)a, (const __nv_bfloat16 *)b, gemm->m,
	    gemm->n, gemm->k);
	const cudaError_t status = cudaGetLastError();
	if (status != cudaSuccess)
		gpu_fail(gpu, "own GEMM", cudaGetErrorString(status));
}

/* Descriptors live until the process ends: a handful of bytes a shape, and the library stays loaded. */
void gpu_gemm_free(struct gpu *gpu, struct gpu_gemm *gemm)
{
	gpu_free(gpu, gemm->workspace);
	free(gemm);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/update_rank.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/base/arena.h"
#include "probe/team.h"

/* Low halves begin at another place of their page than high ones: at the same, Adam's streams are in each other's way. */
enum { HUGE_PAGE_BYTES = 2 << 20, STAGGER_BYTES = 10 * KERNEL_GRAIN };

struct update_layout update_layout_of(size_t subgroup_params, size_t n_subgroups)
{
	return (struct update_layout){.subgroup_params = subgroup_params,
	    .n_subgroups = n_subgroups,
	    .pitch = (subgroup_params + KERNEL_GRAIN - 1) / KERNEL_GRAIN * KERNEL_GRAIN};
}

static size_t round_up(size_t bytes)
{
	return (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
}

static void touch(void *context, size_t begin, size_t end)
{
	char *const bytes = context;
	memset(bytes + begin, 0, end - begin);
}

/* First touch by the rank's own threads, on its node. */
static int map_host(struct update_rank *rank, struct err *err)
{
	rank->host =
	    mmap(NULL, rank->host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (rank->host == MAP_FAILED) {
		rank->host = NULL;
		return err_set(err, STATUS_ENV, "rank %d: %.1f GiB of host memory were refused", rank->rank,
		    (double)rank->host_bytes / 0x1p30);
	}
	madvise(rank->host, rank->host_bytes, MADV_HUGEPAGE);
	struct team *team = team_new(rank->n_cpus, rank->cpus);
	const struct team_work work = {touch, rank->host, rank->host_bytes, HUGE_PAGE_BYTES};
	team_run(team, &work);
	team_free(team);
	gpu_pin(rank->gpu, rank->host, rank->host_bytes);
	return gpu_error(rank->gpu) ? err_set(err, STATUS_ENV, "rank %d: %s", rank->rank, gpu_error(rank->gpu)) : 0;
}

static int allocate_host(struct update_rank *rank, struct err *err)
{
	const size_t n = rank->needs.elements;
	const size_t state_bytes = round_up(12 * n), half_bytes = round_up(2 * n);
	const size_t grads32_bytes = rank->needs.grads_fp32 ? round_up(4 * n) : 0;
	const size_t before_lo_bytes = state_bytes + grads32_bytes + 2 * half_bytes;
	rank->host_bytes = before_lo_bytes + (rank->needs.split ? round_up(2 * n + STAGGER_BYTES) : 0);
	const int rc = map_host(rank, err);
	if (rc)
		return rc;
	char *const base = rank->host;
	rank->state = (float *)(void *)base;
	rank->grads32 = grads32_bytes ? (float *)(void *)(base + state_bytes) : NULL;
	rank->grads16 = (uint16_t *)(void *)(base + state_bytes + grads32_bytes);
	rank->stage = (uint16_t *)(void *)(base + state_bytes + grads32_bytes + half_bytes);
	rank->lo = rank->needs.split ? (uint16_t *)(void *)(base + before_lo_bytes + STAGGER_BYTES) : NULL;
	return 0;
}

static void allocate_device(struct update_rank *rank)
{
	struct gpu *const gpu = rank->gpu;
	const struct update_needs *const needs = &rank->needs;
	for (int i = 0; i < needs->buffers; i++) {
		rank->dev_state[i] = gpu_alloc(gpu, 12 * needs->pitch);
		rank->dev_grads32[i] = gpu_alloc(gpu, 4 * needs->pitch);
		rank->dev_lo[i] = needs->split ? gpu_alloc(gpu, 2 * needs->pitch) : NULL;
	}
	if (needs->n_resident_elements)
		rank->dev_resident = gpu_alloc(gpu, 12 * needs->n_resident_elements);
	rank->dev_grads16 = gpu_alloc(gpu, 2 * needs->elements);
	rank->dev_half = gpu_alloc(gpu, 2 * needs->elements);
}

static struct gpu_event **events_new(struct gpu *gpu, size_t n)
{
	struct gpu_event **const events = xmalloc(n, sizeof events[0]);
	for (size_t i = 0; i < n; i++)
		events[i] = gpu_event_new(gpu, 0);
	return events;
}

static void make_streams(struct update_rank *rank)
{
	struct gpu *const gpu = rank->gpu;
	const size_t n = rank->needs.n_subgroups;
	for (int i = 0; i < UPDATE_TENSORS; i++)
		rank->tensor_stream[i] = gpu_stream_new(gpu);
	rank->fetch_stream = gpu_stream_new(gpu);
	rank->write_stream = gpu_stream_new(gpu);
	rank->compute_stream = gpu_stream_new(gpu);
	rank->push_stream = gpu_stream_new(gpu);
	rank->fetched = events_new(gpu, UPDATE_TENSORS * n);
	rank->written = events_new(gpu, UPDATE_TENSORS * n);
	rank->updated = events_new(gpu, n);
	rank->narrowed = events_new(gpu, n);
	rank->push_event = gpu_event_new(gpu, 0);
	rank->compute_event = gpu_event_new(gpu, 0);
}

int update_rank_open(struct update_rank *rank, const struct topology *topology, int index, int n_ranks,
    const struct update_needs *needs, struct err *err)
{
	*rank = (struct update_rank){.rank = index, .kernels = kernels_best(), .needs = *needs};
	pthread_mutex_init(&rank->push_mutex, NULL);
	rank->n_cpus = topology_slice(rank->cpus, topology, index, n_ranks);
	rank->gpu = gpu_open(index, 0);
	allocate_device(rank);
	make_streams(rank);
	if (gpu_error(rank->gpu))
		return err_set(err, STATUS_ENV, "GPU %d: %s", index, gpu_error(rank->gpu));
	return allocate_host(rank, err);
}

static void events_free(struct gpu *gpu, struct gpu_event **events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		gpu_event_free(gpu, events[i]);
	free(events);
}

static void free_streams(struct update_rank *rank)
{
	struct gpu *const gpu = rank->gpu;
	const size_t n = rank->needs.n_subgroups;
	events_free(gpu, rank->fetched, UPDATE_TENSORS * n);
	events_free(gpu, rank->written, UPDATE_TENSORS * n);
	events_free(gpu, rank->updated, n);
	events_free(gpu, rank->narrowed, n);
	gpu_event_free(gpu, rank->push_event);
	gpu_event_free(gpu, rank->compute_event);
	for (int i = 0; i < UPDATE_TENSORS; i++)
		gpu_stream_free(gpu, rank->tensor_stream[i]);
	gpu_stream_free(gpu, rank->fetch_stream);
	gpu_stream_free(gpu, rank->write_stream);
	gpu_stream_free(gpu, rank->compute_stream);
	gpu_stream_free(gpu, rank->push_stream);
}

void update_rank_close(struct update_rank *rank)
{
	if (!rank->gpu)
		return;
	gpu_use(rank->gpu);
	gpu_wait_all(rank->gpu);
	free_streams(rank);
	for (int i = 0; i < UPDATE_BUFFERS_MAX; i++) {
		gpu_free(rank->gpu, rank->dev_state[i]);
		gpu_free(rank->gpu, rank->dev_grads32[i]);
		gpu_free(rank->gpu, rank->dev_lo[i]);
	}
	gpu_free(rank->gpu, rank->dev_resident);
	gpu_free(rank->gpu, rank->dev_grads16);
	gpu_free(rank->gpu, rank->dev_half);
	if (rank->host) {
		gpu_unpin(rank->gpu, rank->host);
		munmap(rank->host, rank->host_bytes);
	}
	gpu_close(rank->gpu);
	pthread_mutex_destroy(&rank->push_mutex);
	rank->gpu = NULL;
}

float *update_state_of(const struct update_rank *rank, const struct update_layout *layout, size_t x)
{
	return rank->state + UPDATE_TENSORS * layout->pitch * x;
}

float *update_resident_of(
    const struct update_rank *rank, const struct update_layout *layout, const struct update_policy *policy, size_t x)
{
	const size_t first = (size_t)(policy->ratio * (double)layout->n_subgroups);
	return rank->dev_resident + UPDATE_TENSORS * layout->pitch * (x - first);
}

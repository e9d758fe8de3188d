/* SPDX-License-Identifier: GPL-3.0-or-later
 * The CUDA runtime behind cuda_cases.h: devices, memory, streams, events, copies. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/cuda/cuda_cases.h"
#include "probe/cuda/gpu_state.h"

static cudaStream_t stream_of(struct gpu_stream *stream)
{
	return (cudaStream_t)(void *)stream;
}

static cudaEvent_t event_of(struct gpu_event *event)
{
	return (cudaEvent_t)(void *)event;
}

struct gpu *gpu_fail(struct gpu *gpu, const char *what, const char *why)
{
	if (!gpu->error[0])
		snprintf(gpu->error, sizeof gpu->error, "%s: %s", what, why);
	return gpu;
}

static bool check(struct gpu *gpu, cudaError_t status, const char *what)
{
	if (status != cudaSuccess)
		gpu_fail(gpu, what, cudaGetErrorString(status));
	return status == cudaSuccess;
}

static bool is_fine(const struct gpu *gpu)
{
	return gpu->error[0] == '\0';
}

/* First driver branch of each CUDA generation (minor versions are compatible within one). */
static int driver_needed(int runtime)
{
	return runtime >= 13000 ? 580 : runtime >= 12000 ? 525 : 450;
}

int gpu_count(char *reason, size_t reason_size)
{
	int n = 0, driver = 0, runtime = 0;
	cudaRuntimeGetVersion(&runtime);
	cudaDriverGetVersion(&driver);
	if (driver == 0) {
		snprintf(reason, reason_size, "no NVIDIA driver (libcuda.so.1) on this machine");
		return 0;
	}
	const cudaError_t status = cudaGetDeviceCount(&n);
	if (status == cudaErrorInsufficientDriver) {
		snprintf(reason, reason_size, "the driver is for CUDA %d.%d, this binary needs driver %d or later (CUDA %d.%d); or build "
			 "it here with 'make probe' and the node's own nvcc (11.8 or later)",
		    driver / 1000, driver % 1000 / 10, driver_needed(runtime), runtime / 1000, runtime % 1000 / 10);
		return -1;
	}
	if (status != cudaSuccess || n == 0)
		snprintf(reason, reason_size, "no CUDA device: %s", cudaGetErrorString(status));
	return status == cudaSuccess ? n : 0;
}

struct gpu *gpu_open(int device, int spin)
{
	struct gpu *gpu = (struct gpu *)calloc(1, sizeof *gpu);
	if (!gpu)
		abort();
	gpu->device = device;
	gpu->spin = spin;
	if (!check(gpu, cudaSetDevice(device), "cudaSetDevice"))
		return gpu;
	cudaSetDeviceFlags(spin ? cudaDeviceScheduleSpin : cudaDeviceScheduleBlockingSync);
	cudaGetLastError(); /* flags of a context that exists already stay: the events below decide the waiting */
	check(gpu, cudaFree(0), "context");
	check(gpu, cudaDeviceGetAttribute(&gpu->multiprocessors, cudaDevAttrMultiProcessorCount, device), "attribute");
	return gpu;
}

void gpu_close(struct gpu *gpu)
{
	if (!gpu)
		return;
	cudaSetDevice(gpu->device);
	cudaDeviceSynchronize();
	free(gpu);
}

const char *gpu_error(const struct gpu *gpu)
{
	return is_fine(gpu) ? NULL : gpu->error;
}

void gpu_use(struct gpu *gpu)
{
	check(gpu, cudaSetDevice(gpu->device), "cudaSetDevice");
}

static double read_sys(const char *bus, const char *name)
{
	char path[128], lower[32];
	size_t i = 0;
	for (; bus[i] && i + 1 < sizeof lower; i++)
		lower[i] = bus[i] >= 'A' && bus[i] <= 'F' ? (char)(bus[i] - 'A' + 'a') : bus[i];
	lower[i] = '\0';
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", lower, name);
	FILE *file = fopen(path, "r");
	double value = -1;
	if (file && fscanf(file, "%lf", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	return value;
}

/* Generations 3 and later use 128b/130b coding; 8, 16, 32 GT/s per lane. */
static void read_link(struct gpu_info *info)
{
	const double speed = read_sys(info->pci_bus, "current_link_speed"), width = read_sys(info->pci_bus, "current_link_width");
	const double top = read_sys(info->pci_bus, "max_link_speed");
	const double rate = top > speed ? top : speed; /* the current one drops while idle */
	if (rate < 8 || width < 1)
		return;
	const int generation = rate < 9 ? 3 : rate < 17 ? 4 : rate < 33 ? 5 : 6;
	snprintf(info->link, sizeof info->link, "gen%d x%.0f", generation, width);
	info->link_Bps = rate * 1e9 * width * 128 / 130 / 8;
}

void gpu_describe(struct gpu *gpu, struct gpu_info *info)
{
	cudaDeviceProp properties;
	size_t free_bytes = 0, total_bytes = 0;
	memset(info, 0, sizeof *info);
	gpu_use(gpu);
	if (!is_fine(gpu) || !check(gpu, cudaGetDeviceProperties(&properties, gpu->device), "properties"))
		return;
	snprintf(info->name, sizeof info->name, "%s", properties.name);
	for (int i = 0; i < 16; i++)
		snprintf(info->uuid + 2 * i, 3, "%02x", (unsigned char)properties.uuid.bytes[i]);
	cudaDeviceGetPCIBusId(info->pci_bus, sizeof info->pci_bus, gpu->device);
	info->capability_major = properties.major;
	info->capability_minor = properties.minor;
	info->multiprocessors = properties.multiProcessorCount;
	cudaDriverGetVersion(&info->driver);
	cudaRuntimeGetVersion(&info->runtime);
	cudaDeviceGetAttribute(&info->clock_kHz, cudaDevAttrClockRate, gpu->device);
	cudaDeviceGetAttribute(&info->memory_clock_kHz, cudaDevAttrMemoryClockRate, gpu->device);
	info->ecc = properties.ECCEnabled;
	info->l2_bytes = properties.l2CacheSize;
	check(gpu, cudaMemGetInfo(&free_bytes, &total_bytes), "memory");
	info->free_bytes = (double)free_bytes;
	info->memory_bytes = (double)total_bytes;
	info->numa_node = (int)read_sys(info->pci_bus, "numa_node");
	read_link(info);
}

void *gpu_alloc(struct gpu *gpu, size_t bytes)
{
	void *memory = NULL;
	if (is_fine(gpu))
		check(gpu, cudaMalloc(&memory, bytes), "device memory");
	return memory;
}

void gpu_free(struct gpu *gpu, void *memory)
{
	if (memory)
		check(gpu, cudaFree(memory), "cudaFree");
}

void gpu_pin(struct gpu *gpu, void *host, size_t bytes)
{
	if (is_fine(gpu))
		check(gpu, cudaHostRegister(host, bytes, cudaHostRegisterPortable), "pinning host memory (see ulimit -l)");
}

void gpu_unpin(struct gpu *gpu, void *host)
{
	check(gpu, cudaHostUnregister(host), "cudaHostUnregister");
}

void *gpu_host_alloc(struct gpu *gpu, size_t bytes)
{
	void *memory = NULL;
	if (is_fine(gpu))
		check(gpu, cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "pinned host memory");
	return memory;
}

void gpu_host_free(struct gpu *gpu, void *host)
{
	check(gpu, cudaFreeHost(host), "cudaFreeHost");
}

struct gpu_stream *gpu_stream_new(struct gpu *gpu)
{
	cudaStream_t stream = NULL;
	if (is_fine(gpu))
		check(gpu, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
	return (struct gpu_stream *)(void *)stream;
}

struct gpu_event *gpu_event_new(struct gpu *gpu, int timed)
{
	cudaEvent_t event = NULL;
	const unsigned flags = (gpu->spin ? 0U : cudaEventBlockingSync) | (timed ? 0U : cudaEventDisableTiming);
	if (is_fine(gpu))
		check(gpu, cudaEventCreateWithFlags(&event, flags), "event");
	return (struct gpu_event *)(void *)event;
}

void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream)
{
	if (stream)
		check(gpu, cudaStreamDestroy(stream_of(stream)), "cudaStreamDestroy");
}

void gpu_event_free(struct gpu *gpu, struct gpu_event *event)
{
	if (event)
		check(gpu, cudaEventDestroy(event_of(event)), "cudaEventDestroy");
}

void gpu_record(struct gpu *gpu, struct gpu_event *event, struct gpu_stream *stream)
{
	if (is_fine(gpu))
		check(gpu, cudaEventRecord(event_of(event), stream_of(stream)), "event record");
}

void gpu_stream_wait(struct gpu *gpu, struct gpu_stream *stream, struct gpu_event *event)
{
	if (is_fine(gpu))
		check(gpu, cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "stream wait");
}

void gpu_wait(struct gpu *gpu, struct gpu_event *event)
{
	if (is_fine(gpu))
		check(gpu, cudaEventSynchronize(event_of(event)), "waiting for the device");
}

void gpu_wait_all(struct gpu *gpu)
{
	if (is_fine(gpu))
		check(gpu, cudaDeviceSynchronize(), "waiting for the device");
}

double gpu_elapsed_s(struct gpu *gpu, struct gpu_event *start, struct gpu_event *end)
{
	float elapsed_ms = 0;
	if (is_fine(gpu))
		check(gpu, cudaEventElapsedTime(&elapsed_ms, event_of(start), event_of(end)), "event time");
	return 1e-3 * (double)elapsed_ms;
}

void gpu_h2d(struct gpu *gpu, struct gpu_stream *stream, void *device, const void *host, size_t bytes)
{
	if (is_fine(gpu))
		check(gpu, cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_of(stream)), "copy to the device");
}

void gpu_d2h(struct gpu *gpu, struct gpu_stream *stream, void *host, const void *device, size_t bytes)
{
	if (is_fine(gpu))
		check(gpu, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_of(stream)), "copy to the host");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/topology.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static double read_number(const char *path, double fallback)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return fallback;
	double value = fallback;
	if (fscanf(file, "%lf", &value) != 1)
		value = fallback;
	fclose(file);
	return value;
}

static int cpu_number(int cpu, const char *name, int fallback)
{
	char path[128];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	return (int)read_number(path, fallback);
}

static int node_of(int cpu)
{
	for (int node = 0; node < 64; node++) {
		char path[96];
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (access(path, F_OK) == 0)
			return node;
	}
	return 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct hw_thread *x = a, *y = b;
	if (x->node != y->node)
		return x->node - y->node;
	if (x->package != y->package)
		return x->package - y->package;
	return x->core != y->core ? x->core - y->core : x->cpu - y->cpu;
}

static void read_threads(struct topology *topology)
{
	cpu_set_t allowed;
	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		CPU_SET(0, &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && topology->n_threads < TOPOLOGY_CPUS_MAX; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &allowed))
			continue;
		topology->threads[topology->n_threads++] = (struct hw_thread){.cpu = cpu,
		    .core = cpu_number(cpu, "core_id", cpu),
		    .package = cpu_number(cpu, "physical_package_id", 0),
		    .node = node_of(cpu)};
	}
	qsort(topology->threads, (size_t)topology->n_threads, sizeof topology->threads[0], compare_threads);
}

static void count_cores(struct topology *topology)
{
	for (int i = 0; i < topology->n_threads; i++) {
		struct hw_thread *thread = &topology->threads[i];
		const struct hw_thread *last = i > 0 ? &topology->threads[i - 1] : NULL;
		const int same_core = last && last->core == thread->core && last->package == thread->package;
		thread->sibling = same_core ? last->sibling + 1 : 0;
		topology->n_cores += !same_core;
		topology->n_nodes += !last || last->node != thread->node;
		topology->n_packages += !last || last->package != thread->package;
		if (thread->sibling + 1 > topology->threads_per_core)
			topology->threads_per_core = thread->sibling + 1;
	}
}

static double last_level_cache_bytes(int cpu)
{
	double largest_bytes = 0;
	for (int index = 0; index < 5; index++) {
		char path[128];
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
		const double kib = read_number(path, 0); /* "32768K" */
		if (kib * 1024 > largest_bytes)
			largest_bytes = kib * 1024;
	}
	return largest_bytes;
}

static double memory_limit_bytes(void)
{
	const double physical_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	double limit_bytes = read_number("/sys/fs/cgroup/memory.max", 0);
	if (limit_bytes <= 0)
		limit_bytes = read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", 0);
	return limit_bytes > 0 && limit_bytes < physical_bytes ? limit_bytes : physical_bytes;
}

static void read_processor(struct topology *topology)
{
	snprintf(topology->model, sizeof topology->model, "unknown");
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[4096];
	while (file && fgets(line, sizeof line, file)) {
		const char *colon = strchr(line, ':');
		if (colon && strncmp(line, "model name", 10) == 0)
			snprintf(topology->model, sizeof topology->model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		if (strncmp(line, "flags", 5) == 0) {
			topology->hypervisor = strstr(line, " hypervisor") != NULL;
			break;
		}
	}
	if (file)
		fclose(file);
	struct utsname name;
	if (uname(&name) == 0)
		snprintf(topology->kernel, sizeof topology->kernel, "%.30s %.60s %.30s", name.sysname, name.release,
		    name.machine);
}

void topology_read(struct topology *topology)
{
	memset(topology, 0, sizeof *topology);
	read_threads(topology);
	count_cores(topology);
	read_processor(topology);
	topology->cache_bytes = last_level_cache_bytes(topology->threads[0].cpu);
	topology->memory_bytes = memory_limit_bytes();
}

int topology_slice(int cpus[TOPOLOGY_CPUS_MAX], const struct topology *topology, int rank, int ranks)
{
	const int begin = topology->n_threads * rank / ranks, end = topology->n_threads * (rank + 1) / ranks;
	int n_cpus = 0;
	for (int sibling = 0; sibling < topology->threads_per_core; sibling++)
		for (int i = begin; i < end; i++)
			if (topology->threads[i].sibling == sibling)
				cpus[n_cpus++] = topology->threads[i].cpu;
	return n_cpus;
}

int topology_bind_thread(const struct topology *topology, int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (int i = 0; i < topology->n_threads; i++)
		if (cpu < 0 || topology->threads[i].cpu == cpu)
			CPU_SET((size_t)topology->threads[i].cpu, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

int topology_bind_memory(void *address, size_t bytes, int node)
{
#ifdef SYS_mbind
	enum { MPOL_BIND_MODE = 2 };
	const unsigned long mask = 1UL << node;
	return syscall(SYS_mbind, address, bytes, MPOL_BIND_MODE, &mask, sizeof mask * 8, 0) == 0 ? 0 : errno;
#else
	(void)address, (void)bytes, (void)node;
	return ENOSYS;
#endif
}

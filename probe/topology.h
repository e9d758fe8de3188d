/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topology: the hardware threads that this process may use, their cores and NUMA nodes.
 *
 * Invariant: cpus are those of sched_getaffinity, ordered by node, core and sibling, so that a contiguous slice holds whole
 * cores. Read from /sys without libnuma: the probe builds with a C compiler alone.
 */
#ifndef PROBE_TOPOLOGY_H
#define PROBE_TOPOLOGY_H

#include <stddef.h>

enum { TOPOLOGY_CPUS_MAX = 1024 };

struct hw_thread {
	int cpu, core, package, node;
	int sibling; /* 0 for the first allowed hardware thread of its core */
};

struct topology {
	struct hw_thread threads[TOPOLOGY_CPUS_MAX];
	int n_threads, n_cores, n_nodes, n_packages;
	int threads_per_core; /* the most siblings of one core */
	double cache_bytes; /* last-level cache of one node, 0 unknown */
	double memory_bytes; /* least of physical memory and the cgroup limit */
	char model[128]; /* processor */
	char kernel[128];
	int hypervisor; /* 1: the processor says that it is virtual */
};

void topology_read(struct topology *topology);

/* CPUs of rank `rank` of `ranks`: a contiguous slice of whole cores where they divide evenly, first siblings first: a team that
 * takes the first t of them spreads over cores. Returns their number. */
int topology_slice(int cpus[TOPOLOGY_CPUS_MAX], const struct topology *topology, int rank, int ranks);

/* Binds the calling thread to one CPU; -1 binds to all allowed ones. Returns 0 or errno. */
int topology_bind_thread(const struct topology *topology, int cpu);

/* Asks for the pages of [address, address + bytes) on one NUMA node (mbind); 0 or errno. */
int topology_bind_memory(void *address, size_t bytes, int node);

#endif

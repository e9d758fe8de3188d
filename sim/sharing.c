/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sharing.h"

#include <string.h>

static void cap_none(double *cap, uint8_t *limit, const uint8_t *kinds, size_t n, const struct cost *cost)
{
	(void)kinds, (void)cost;
	for (size_t i = 0; i < n; i++) {
		cap[i] = 1;
		limit[i] = RES_N;
	}
}

/* Sets of kinds as bits. */
#define KIND(name) ((uint32_t)1 << OP_##name)
static const uint32_t kinds_adam = KIND(CPU_UNSCALE) | KIND(CPU_ADAM) | KIND(CPU_ADAM_BF16) | KIND(CPU_ADAM_FUSED) |
    KIND(CPU_ADAM_FUSED_BF16) | KIND(CPU_ADAM_SPLIT) | KIND(CPU_ADAM_SPLIT_BF16);
static const uint32_t kinds_copy = KIND(H2D) | KIND(D2H);

/* What runs on one rank. */
struct company {
	double n_runnable; /* host threads */
	uint32_t kinds;
};

static struct company company_of(const uint8_t *kinds, size_t n, const struct cost *cost)
{
	struct company all = {0};
	for (size_t i = 0; i < n; i++) {
		all.n_runnable += cost->classes[kinds[i]].host_threads;
		all.kinds |= (uint32_t)1 << kinds[i];
	}
	return all;
}

/* Speed left to a host operation on the rank's cores: E4, or what was measured of Adam beside the downscale. */
static double core_cap(const struct company *all, enum op_kind kind, const struct cost *cost)
{
	const double host_threads = cost->classes[kind].host_threads;
	if (host_threads <= 0)
		return 1;
	const bool is_adam = (uint32_t)1 << kind & kinds_adam;
	const bool is_pair = all->kinds & kinds_adam && all->kinds & KIND(CPU_DOWNSCALE) && (is_adam || kind == OP_CPU_DOWNSCALE);
	const double measured = is_adam ? cost->corun_adam_frac : cost->corun_downscale_frac;
	if (is_pair && measured > 0)
		return measured;
	if (is_pair && cost->hw->adam_downscale_corun_frac > 0 && all->n_runnable > cost->hw_threads)
		return cost->hw->adam_downscale_corun_frac;
	return cost_core_frac(cost, all->n_runnable, host_threads);
}

/* What holds an operation before sharing: its cores (E4), the other direction of its link (E5). */
static void cap_fluid(double *cap, uint8_t *limit, const uint8_t *kinds, size_t n, const struct cost *cost)
{
	const struct company all = company_of(kinds, n, cost);
	for (size_t i = 0; i < n; i++) {
		const struct op_class *const class = &cost->classes[kinds[i]];
		if (class->transfer)
			cap[i] = (all.kinds & kinds_copy) == kinds_copy ? class->duplex_frac : 1;
		else
			cap[i] = core_cap(&all, kinds[i], cost);
		limit[i] = cap[i] >= 1 ? RES_N : class->transfer ? RES_DUPLEX : RES_CORES;
	}
}

const struct sharing sharing_none = {
    "none", "DRAM, HBM, cores and roots infinite, directions independent; engines, streams and threads serialise", cap_none, false};
const struct sharing sharing_fluid = {
    "fluid", "weighted max-min sharing of DRAM, HBM and PCIe roots; discrete cores; measured duplex rates", cap_fluid, true};
const struct sharing *const sharing_all[] = {&sharing_fluid, &sharing_none, &sharing_measured, NULL};

const struct sharing *sharing_find(const char *name)
{
	for (size_t i = 0; sharing_all[i]; i++)
		if (!strcmp(sharing_all[i]->name, name))
			return sharing_all[i];
	return NULL;
}

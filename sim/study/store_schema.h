/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store_schema: the tables and the views of a store, and the columns that are written, in order.
 *
 * A change of any of it raises STORE_VERSION. STRICT: a value of another type is refused by SQLite itself.
 */
#ifndef SIM_STUDY_STORE_SCHEMA_H
#define SIM_STUDY_STORE_SCHEMA_H

#define STORE_PROFILE_COLUMNS \
	"profile_hash, name, summary, gpus, threads, host_memory_bytes, gpu_memory_bytes, dram_Bps, h2d_duplex_Bps, d2h_duplex_Bps"
enum { STORE_N_PROFILE = 10 };

#define STORE_WORKLOAD_COLUMNS_1                                                                                              \
	"workload_hash, model, layers, hidden, heads, kv_heads, ffn, vocab, n_params, gpus, mbs, grad_accum, seq, checkpointing, " \
	"precision, subgroup_params, n_subgroups"
/* Version 1 had all but the last three. */
#define STORE_WORKLOAD_COLUMNS STORE_WORKLOAD_COLUMNS_1 ", nodes, zero, tp"
enum { STORE_N_WORKLOAD = 20 };

#define STORE_TRIAL_COLUMNS                                                                                                   \
	"key, results_version, profile_hash, workload_hash, policy, stride, ratio, fraction, threads, contention, sync, scale, "   \
	"sample, feasible, reason, forward_s, backward_s, update_s, other_s, iteration_s, gpu_peak_bytes, host_peak_bytes, "       \
	"gpu_fraction_frac, bottleneck"
enum { STORE_N_TRIAL = 24 };

extern const char store_schema_sql[];
/* From version 1 to 2. */
extern const char store_upgrade_sql[];

#endif

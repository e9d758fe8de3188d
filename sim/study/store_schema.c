/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/store_schema.h"

/* CROSS fixes the order of the loops: without ORDER BY rows come as they were stored. Results of an older version of the
 * program stay in trials and leave the views when newer ones arrive. */
#define RUNS_COLUMNS                                                                                                    \
	"SELECT printf('%016x', t.key) AS key, p.name AS hw, w.model AS model, t.policy AS policy,"                     \
	" t.stride AS stride, t.ratio AS ratio, t.fraction AS fraction, w.gpus AS gpus, w.mbs AS mbs,"                  \
	" w.grad_accum AS grad_accum, w.seq AS seq, w.subgroup_params AS subgroup, w.n_subgroups AS n_subgroups,"       \
	" t.threads AS threads, t.contention AS contention, t.scale AS scale, t.feasible AS feasible, t.reason AS reason," \
	" t.forward_s AS forward_s, t.backward_s AS backward_s, t.update_s AS update_s, t.other_s AS other_s,"          \
	" t.iteration_s AS iteration_s, t.gpu_peak_bytes AS gpu_peak_bytes, t.host_peak_bytes AS host_peak_bytes,"      \
	" t.bottleneck AS bottleneck"
#define RUNS_FROM                                                                                                       \
	" FROM trials t CROSS JOIN profiles p ON p.profile_hash = t.profile_hash"                                       \
	" CROSS JOIN workloads w ON w.workload_hash = t.workload_hash"                                                  \
	" WHERE t.results_version = (SELECT max(results_version) FROM results_versions)"
/* v_runs is a contract; what came later is in a view that has more. */
#define PARALLEL_VIEW "CREATE VIEW v_runs_parallel AS " RUNS_COLUMNS ", w.nodes AS nodes, w.zero AS zero, w.tp AS tp" RUNS_FROM ";"

/* Trials are appended in the order of the sweep; only the small index over keys is written at random. */
const char store_schema_sql[] =
    "CREATE TABLE profiles ("
    " profile_hash INTEGER PRIMARY KEY, name TEXT NOT NULL, summary TEXT NOT NULL, gpus INTEGER NOT NULL,"
    " threads INTEGER NOT NULL, host_memory_bytes REAL NOT NULL, gpu_memory_bytes REAL NOT NULL, dram_Bps REAL NOT NULL,"
    " h2d_duplex_Bps REAL NOT NULL, d2h_duplex_Bps REAL NOT NULL) STRICT;"
    "CREATE TABLE workloads ("
    " workload_hash INTEGER PRIMARY KEY, model TEXT NOT NULL, layers INTEGER, hidden INTEGER, heads INTEGER,"
    " kv_heads INTEGER, ffn INTEGER, vocab INTEGER, n_params INTEGER, gpus INTEGER NOT NULL, mbs INTEGER NOT NULL,"
    " grad_accum INTEGER NOT NULL, seq INTEGER NOT NULL, checkpointing INTEGER NOT NULL, precision TEXT NOT NULL,"
    " subgroup_params INTEGER NOT NULL, n_subgroups INTEGER, nodes INTEGER NOT NULL DEFAULT 1,"
    " zero INTEGER NOT NULL DEFAULT 3, tp INTEGER NOT NULL DEFAULT 1) STRICT;"
    "CREATE TABLE trials ("
    " id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, results_version INTEGER NOT NULL,"
    " profile_hash INTEGER NOT NULL REFERENCES profiles, workload_hash INTEGER NOT NULL REFERENCES workloads,"
    " policy TEXT NOT NULL, stride INTEGER, ratio REAL, fraction REAL, threads INTEGER NOT NULL, contention TEXT NOT NULL,"
    " sync TEXT NOT NULL, scale TEXT NOT NULL, sample INTEGER NOT NULL, feasible INTEGER, reason TEXT, forward_s REAL,"
    " backward_s REAL, update_s REAL, other_s REAL, iteration_s REAL, gpu_peak_bytes REAL, host_peak_bytes REAL,"
    " gpu_fraction_frac REAL, bottleneck TEXT) STRICT;"
    "CREATE TABLE results_versions (results_version INTEGER PRIMARY KEY) STRICT;"
    "CREATE VIEW v_runs AS " RUNS_COLUMNS RUNS_FROM ";"
    PARALLEL_VIEW;

const char store_upgrade_sql[] =
    "ALTER TABLE workloads ADD COLUMN nodes INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE workloads ADD COLUMN zero INTEGER NOT NULL DEFAULT 3;"
    "ALTER TABLE workloads ADD COLUMN tp INTEGER NOT NULL DEFAULT 1;"
    PARALLEL_VIEW;

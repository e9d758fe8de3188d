/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store: finished trials in a SQLite database: tables profiles, workloads, trials; the view v_runs is the contract, v_runs_parallel has
 * nodes, ZeRO stage and tensor parallelism too. A store of an older version is brought up to date by whoever opens it to write.
 *
 * One writer at a time commits bursts of rows (write-ahead log, so that readers never wait; synced at every commit, so that neither a
 * killed writer nor a loss of power loses a committed row, where the disk keeps what it is told to sync); several processes may write
 * one database in turn. Rows are never changed: the same key is the same result.
 * The store knows rows, not policies. Not for several threads at once; each thread opens its own reader.
 *
 * Errors: STATUS_INPUT for what is no database of ours or comes from a newer version, STATUS_ENV for what cannot be written.
 */
#ifndef SIM_STUDY_STORE_H
#define SIM_STUDY_STORE_H

#include "model/hwprofile.h"
#include "model/workload.h"

enum { STORE_VERSION = 2, STORE_APPLICATION_ID = 0x444f5331 }; /* user_version; "DOS1" */

struct store_workload {
	unsigned long long hash;
	struct shape shape; /* name: what v_runs calls the model; borrowed */
	struct batch batch;
	double n_params; /* NAN: refused, like n_subgroups */
	double n_subgroups;
};

enum store_feasible { STORE_UNFIT, STORE_FIT, STORE_UNKNOWN };

/* NAN and NULL: the trial has no such value. Texts are borrowed. */
struct store_trial {
	unsigned long long key, profile_hash, workload_hash;
	const char *policy; /* canonical */
	double stride, ratio, fraction;
	double threads;
	const char *contention, *sync, *scale;
	long long sample; /* 0: the profile as it stands */
	enum store_feasible feasible;
	const char *reason;
	double forward_s, backward_s, update_s, other_s, iteration_s;
	double gpu_peak_bytes, host_peak_bytes, gpu_fraction_frac;
	const char *bottleneck;
};

struct store;
struct sqlite3;

/* Opens for writing; makes the file and its tables when there are none. */
int store_open(struct store **store, const char *path, struct err *err) MUST_CHECK;
/* Opens an existing store for store_has. */
int store_open_reader(struct store **store, const char *path, struct err *err) MUST_CHECK;
/* Drops what is not committed. */
void store_close(struct store *store);

int store_begin(struct store *store, struct err *err) MUST_CHECK;
/* Added once each, by hash; the first name stays. */
int store_add_profile(struct store *store, const struct hwprofile *hw, struct err *err) MUST_CHECK;
int store_add_workload(struct store *store, const struct store_workload *workload, struct err *err) MUST_CHECK;
/* *is_new false: the key is there already. */
int store_add_trial(bool *is_new, struct store *store, const struct store_trial *trial, struct err *err) MUST_CHECK;
int store_commit(struct store *store, struct err *err) MUST_CHECK;

/* Is a trial there? */
int store_has(bool *has, struct store *store, unsigned long long key, struct err *err) MUST_CHECK;
int store_is_empty(bool *is_empty, struct store *store, struct err *err) MUST_CHECK;

/* The open connection. */
struct sqlite3 *store_handle(struct store *store);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/store.h"

#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"
#include "model/split.h"
#include "sim/study/results.h"
#include "sim/study/store_open.h"
#include "sim/study/store_schema.h"

enum statement { ADD_PROFILE, ADD_WORKLOAD, ADD_TRIAL, HAS_KEY, HAS_ANY, BEGIN, COMMIT, N_STATEMENTS };

static const char *const statement_sql[N_STATEMENTS] = {
    [ADD_PROFILE] = "INSERT OR IGNORE INTO profiles (" STORE_PROFILE_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?)",
    [ADD_WORKLOAD] = "INSERT OR IGNORE INTO workloads (" STORE_WORKLOAD_COLUMNS ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ADD_TRIAL] = "INSERT OR IGNORE INTO trials (" STORE_TRIAL_COLUMNS
                  ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [HAS_KEY] = "SELECT 1 FROM trials WHERE key = ?",
    [HAS_ANY] = "SELECT 1 FROM trials LIMIT 1",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *statements[N_STATEMENTS]; /* prepared when first used */
	unsigned long long last_workload; /* added last, so that a run of one workload is added once */
	bool has_last_workload;
};

static int fail(struct store *store, struct err *err)
{
	return store_sqlite_error(store->db, store->path, err);
}

/* ---- statements */

/* NULL: could not be prepared. */
static sqlite3_stmt *get(struct store *store, enum statement which)
{
	sqlite3_stmt **const kept = &store->statements[which];

	if (!*kept)
		sqlite3_prepare_v3(store->db, statement_sql[which], -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
	return *kept;
}

/* Runs a statement that gives at most one row. */
static int step(struct store *store, sqlite3_stmt *statement, bool *has_row, struct err *err)
{
	const int rc = sqlite3_step(statement);

	*has_row = rc == SQLITE_ROW;
	const int code = rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : fail(store, err);
	sqlite3_reset(statement);
	return code;
}

static int run(struct store *store, enum statement which, struct err *err)
{
	sqlite3_stmt *const statement = get(store, which);
	bool has_row;

	return statement ? step(store, statement, &has_row, err) : fail(store, err);
}

/* A statement whose parameters are being bound, left to right. */
struct binding {
	sqlite3_stmt *statement;
	int next, rc;
};

static int bind_start(struct binding *b, struct store *store, enum statement which, struct err *err)
{
	*b = (struct binding){.statement = get(store, which), .next = 1};
	return b->statement ? 0 : fail(store, err);
}

static void bound(struct binding *b, int rc)
{
	b->rc = b->rc ? b->rc : rc;
	b->next++;
}

static void bind_hash(struct binding *b, unsigned long long hash)
{
	bound(b, sqlite3_bind_int64(b->statement, b->next, (sqlite3_int64)hash));
}

/* NAN is NULL. */
static void bind_count(struct binding *b, double value)
{
	bound(b, isnan(value) ? sqlite3_bind_null(b->statement, b->next)
	                      : sqlite3_bind_int64(b->statement, b->next, (sqlite3_int64)value));
}

static void bind_number(struct binding *b, double value) /* SQLite binds NAN as NULL */
{
	bound(b, sqlite3_bind_double(b->statement, b->next, value));
}

static void bind_text(struct binding *b, const char *text) /* NULL is NULL; outlives the step */
{
	bound(b, sqlite3_bind_text(b->statement, b->next, text, -1, SQLITE_STATIC));
}

static int bind_end(struct binding *b, struct store *store, int n_columns, struct err *err)
{
	bool has_row;

	assert(b->next == n_columns + 1);
	return b->rc == SQLITE_OK ? step(store, b->statement, &has_row, err) : fail(store, err);
}

/* ---- writing */

int store_begin(struct store *store, struct err *err)
{
	return run(store, BEGIN, err);
}

int store_commit(struct store *store, struct err *err)
{
	return run(store, COMMIT, err);
}

int store_add_profile(struct store *store, const struct hwprofile *hw, struct err *err)
{
	struct binding b;

	if (bind_start(&b, store, ADD_PROFILE, err))
		return err->code;
	bind_hash(&b, hw->content_hash);
	bind_text(&b, hw->name);
	bind_text(&b, hw->summary);
	bind_count(&b, hw->gpus);
	bind_count(&b, hw->threads);
	bind_number(&b, hw->host_memory_bytes);
	bind_number(&b, hw->gpu_memory_bytes);
	bind_number(&b, hw->dram_Bps);
	bind_number(&b, hw->h2d_duplex_Bps);
	bind_number(&b, hw->d2h_duplex_Bps);
	return bind_end(&b, store, STORE_N_PROFILE, err);
}

static void bind_shape(struct binding *b, const struct store_workload *w)
{
	const double members[] = {w->shape.layers, w->shape.hidden, w->shape.heads, w->shape.kv_heads, w->shape.ffn, w->shape.vocab};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) /* an update alone has no shape */
		bind_count(b, w->batch.n_subgroups > 0 ? NAN : members[i]);
}

int store_add_workload(struct store *store, const struct store_workload *w, struct err *err)
{
	struct binding b;

	if (store->has_last_workload && store->last_workload == w->hash)
		return 0;
	if (bind_start(&b, store, ADD_WORKLOAD, err))
		return err->code;
	bind_hash(&b, w->hash);
	bind_text(&b, w->shape.name);
	bind_shape(&b, w);
	bind_count(&b, w->n_params);
	bind_count(&b, w->batch.gpus);
	bind_count(&b, w->batch.mbs);
	bind_count(&b, w->batch.grad_accum);
	bind_count(&b, w->batch.seq);
	bind_count(&b, w->batch.has_checkpointing);
	bind_text(&b, w->batch.precision == PRECISION_FP16 ? "fp16" : "bf16");
	bind_count(&b, w->batch.subgroup_params);
	bind_count(&b, w->n_subgroups);
	bind_count(&b, fmax(1, w->batch.nodes));
	bind_count(&b, batch_zero_stage(&w->batch));
	bind_count(&b, batch_tp(&w->batch));
	if (bind_end(&b, store, STORE_N_WORKLOAD, err))
		return err->code;
	store->last_workload = w->hash;
	store->has_last_workload = true;
	return 0;
}

static void bind_identity(struct binding *b, const struct store_trial *t)
{
	bind_hash(b, t->key);
	bind_count(b, RESULTS_VERSION);
	bind_hash(b, t->profile_hash);
	bind_hash(b, t->workload_hash);
	bind_text(b, t->policy);
	bind_count(b, t->stride);
	bind_number(b, t->ratio);
	bind_number(b, t->fraction);
	bind_count(b, t->threads);
	bind_text(b, t->contention);
	bind_text(b, t->sync);
	bind_text(b, t->scale);
	bind_count(b, (double)t->sample);
}

int store_add_trial(bool *is_new, struct store *store, const struct store_trial *t, struct err *err)
{
	struct binding b;

	if (bind_start(&b, store, ADD_TRIAL, err))
		return err->code;
	bind_identity(&b, t);
	bind_count(&b, t->feasible == STORE_UNKNOWN ? (double)NAN : (double)t->feasible);
	bind_text(&b, t->reason);
	bind_number(&b, t->forward_s);
	bind_number(&b, t->backward_s);
	bind_number(&b, t->update_s);
	bind_number(&b, t->other_s);
	bind_number(&b, t->iteration_s);
	bind_number(&b, t->gpu_peak_bytes);
	bind_number(&b, t->host_peak_bytes);
	bind_number(&b, t->gpu_fraction_frac);
	bind_text(&b, t->bottleneck);
	if (bind_end(&b, store, STORE_N_TRIAL, err))
		return err->code;
	*is_new = sqlite3_changes(store->db) > 0;
	return 0;
}

/* ---- reading */

/* Whether the question, with its parameter bound, has an answer. */
static int ask(bool *has, struct store *store, enum statement which, unsigned long long key, struct err *err)
{
	sqlite3_stmt *const statement = get(store, which);

	*has = false;
	if (!statement)
		return fail(store, err);
	if (sqlite3_bind_parameter_count(statement) > 0)
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)key);
	return step(store, statement, has, err);
}

int store_has(bool *has, struct store *store, unsigned long long key, struct err *err)
{
	return ask(has, store, HAS_KEY, key, err);
}

int store_is_empty(bool *is_empty, struct store *store, struct err *err)
{
	bool has_any;
	const int code = ask(&has_any, store, HAS_ANY, 0, err);

	*is_empty = !has_any;
	return code;
}

/* ---- life */

static struct store *store_new(sqlite3 *db, const char *path)
{
	struct store *const store = xmalloc(1, sizeof(*store));

	*store = (struct store){.db = db, .path = xstrdup(path)};
	return store;
}

int store_open(struct store **store, const char *path, struct err *err)
{
	sqlite3 *db;
	const int code = store_open_writer(&db, path, err);

	if (!code)
		*store = store_new(db, path);
	return code;
}

int store_open_reader(struct store **store, const char *path, struct err *err)
{
	sqlite3 *db;
	const int code = store_open_defensive(&db, path, err);

	if (!code)
		*store = store_new(db, path);
	return code;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < N_STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

struct sqlite3 *store_handle(struct store *store)
{
	return store->db;
}

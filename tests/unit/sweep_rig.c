/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/sweep_rig.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/hash.h"
#include "tests/unit/test_util.h"

void sweep_rig_open(struct sweep_rig *rig)
{
	const struct shape shape = {.name = "small", .arch = ARCH_LLAMA, .layers = 2, .hidden = 256, .heads = 4, .kv_heads = 4, .ffn = 512,
	    .vocab = 1000};

	*rig = (struct sweep_rig){.folder = "/tmp/check_sweep.XXXXXX"};
	ck_assert_ptr_nonnull(mkdtemp(rig->folder));
	snprintf(rig->db, sizeof(rig->db), "%s/runs.db", rig->folder);
	ck_assert_msg(hwprofile_load(&rig->hw, "tests/data/tiny.json", &rig->arena, &rig->err) == 0, "%s", rig->err.text);
	grid_init(&rig->grid, &rig->arena);
	grid_add_hw(&rig->grid, &rig->hw);
	grid_add_model(&rig->grid, &shape, &(struct batch){.precision = PRECISION_BF16});
	sweep_rig_flag(rig, GRID_SUBGROUP, "100k");
}

void sweep_rig_close(struct sweep_rig *rig)
{
	char command[RIG_PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf %s", rig->folder);
	ck_assert_int_eq(system(command), 0);
	arena_release(&rig->arena);
}

void sweep_rig_flag(struct sweep_rig *rig, enum grid_flag flag, const char *text)
{
	static const struct opt count = {.name = "count", .kind = OPT_INT, .min = 1, .max = 1e12};
	static const struct opt sync = {.name = "sync", .kind = OPT_WORD, .words = sync_names};

	ck_assert_msg(grid_add_flag(&rig->grid, flag, flag == GRID_SYNC ? &sync : &count, text, &rig->err) == 0, "%s", rig->err.text);
}

void sweep_rig_policies(struct sweep_rig *rig, const char *text)
{
	ck_assert_msg(grid_add_policies(&rig->grid, text, &rig->err) == 0, "%s", rig->err.text);
}

void sweep_rig_finish(struct sweep_rig *rig)
{
	ck_assert_msg(grid_finish(&rig->grid, &rig->err) == 0, "%s", rig->err.text);
}

int sweep_rig_run(struct sweep_counts *counts, struct sweep_rig *rig, const char *db, size_t n_workers)
{
	const struct sweep sweep = {.grid = &rig->grid, .db = db, .n_workers = n_workers, .n_shards = 1};

	return sweep_run(counts, &sweep, &rig->err);
}

static unsigned long long hash_row(unsigned long long hash, sqlite3_stmt *statement)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const unsigned char *const text = sqlite3_column_text(statement, i);
		hash = hash_number(hash, text ? 1 : 0);
		for (const unsigned char *c = text; c && *c; c++)
			hash = hash_number(hash, *c);
	}
	return hash;
}

unsigned long long sweep_rig_contents(size_t *n_rows, const char *db)
{
	unsigned long long hash = HASH_START;
	sqlite3_stmt *statement;
	sqlite3 *handle;

	*n_rows = 0;
	ck_assert_int_eq(sqlite3_open(db, &handle), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(handle, "SELECT * FROM v_runs ORDER BY key", -1, &statement, NULL), SQLITE_OK);
	for (; sqlite3_step(statement) == SQLITE_ROW; ++*n_rows)
		hash = hash_row(hash, statement);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return hash;
}

void sweep_rig_sql(const char *db, const char *sql)
{
	sqlite3 *handle;
	char *message = NULL;

	ck_assert_int_eq(sqlite3_open(db, &handle), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(handle, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
	sqlite3_close(handle);
}

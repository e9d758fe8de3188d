/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sweep_rig: grids over the machine of tests/data/tiny.json, and stores in a folder that is removed again, for tests of sweeps.
 */
#ifndef TESTS_UNIT_SWEEP_RIG_H
#define TESTS_UNIT_SWEEP_RIG_H

#include "sim/study/grid.h"
#include "sim/study/sweep.h"

enum { RIG_PATH_MAX = 256 };

struct sweep_rig {
	struct arena arena;
	struct hwprofile hw;
	struct grid grid;
	char folder[64], db[RIG_PATH_MAX]; /* db: folder/runs.db */
	struct err err;
};

/* The machine, a model of two layers, no policy yet. */
void sweep_rig_open(struct sweep_rig *rig);
void sweep_rig_close(struct sweep_rig *rig);
/* An axis by its flag, of counts; asserts that it is accepted. */
void sweep_rig_flag(struct sweep_rig *rig, enum grid_flag flag, const char *text);
void sweep_rig_policies(struct sweep_rig *rig, const char *text);
void sweep_rig_finish(struct sweep_rig *rig);
/* Runs the grid into `db`; returns the status. */
int sweep_rig_run(struct sweep_counts *counts, struct sweep_rig *rig, const char *db, size_t n_workers);
/* `select * from v_runs order by key` and its number of rows, as a hash. */
unsigned long long sweep_rig_contents(size_t *n_rows, const char *db);
/* Runs SQL on the file; asserts that it works. */
void sweep_rig_sql(const char *db, const char *sql);

#endif

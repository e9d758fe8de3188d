/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dslog: what one line of a DeepSpeed log says, for the reader in dslog.c.
 */
#ifndef TRACES_DSLOG_H
#define TRACES_DSLOG_H

#include "traces/recording.h"

/* Timers of a "time (ms) | name: value | .." line, -1 those it lacks. Names of now (fwd) and before (forward). */
enum dslog_timer { DSLOG_FORWARD, DSLOG_BACKWARD, DSLOG_STEP, DSLOG_TIMER_N };
struct dslog_times {
	int64_t micro_ns[DSLOG_TIMER_N]; /* of one micro-batch */
	int64_t total_ns[DSLOG_TIMER_N]; /* of an iteration: sums over its micro-batches */
	bool has_micro, has_total;
};

/* False: no such line. */
bool dslog_times_parse(struct dslog_times *times, const char *line);
/* "[2024-04-15 01:09:35,171]" anywhere in the line: ns from an arbitrary origin; -1 none. */
int64_t dslog_clock_ns(const char *line);
/* "[Rank 3]", "rank=3", "[default3]:"; -1 none. */
int64_t dslog_rank(const char *line);
/* "elapsed time per iteration (ms): 6798.0"; -1 none. */
int64_t dslog_elapsed_ns(const char *line);

/* Configuration and memory: the printed ds_config, Megatron's block of arguments, memory reports. */
struct dslog_config {
	double prefetch, gap, part_grads_async, ratio;
	bool has_cpu_offload;
};
void dslog_facts(struct rec_facts *facts, struct dslog_config *config, const char *line);
/* SPEC of the policy that the configuration means; "" not known. */
void dslog_policy(struct rec_facts *facts, const struct dslog_config *config);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schedule: a DAG of operations with their durations alone, and a ledger of memory.
 *
 * Invariant: dependencies point to earlier operations, so the order of creation is a topological order. Operations on
 * one lane of one rank run one at a time: a lane stays with a stream while that has a ready operation for it, and then turns to the
 * operation that has been ready longest (ties: order of creation). Source: traces of copy engines, MODEL.md E11.
 * OP_IS_PUSH / OP_WAITS_PUSHES: when a waiting operation is reached (ready, and its lane idle) it waits in addition for the
 * pushes of its rank that are already enqueued (their dependencies ended), and for no later ones.
 *
 * Ownership: all arrays live in the run's arena.
 */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include <stdint.h>

#include "model/base/arena.h"
#include "model/cost.h"

typedef uint32_t op_id;
#define NO_OP UINT32_MAX

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_UPDATE, PHASE_OTHER, PHASE_N };
extern const char *const phase_names[PHASE_N];

enum pool { POOL_GPU, POOL_HOST, POOL_N };

/* What memory is held for; explains every byte of the peak. */
#define MEM_LIST(X)                                                                                                      \
	X(PARAMS, "parameters") X(GRADS, "gradients") X(STATES, "optimizer states") X(ACTIVATIONS, "activations")        \
	X(GATHERED, "gathered parameters") X(BUCKETS, "gradient buckets") X(BUFFERS, "device buffer sets")               \
	X(STAGING, "staging buffers") X(RESERVED, "reserved")
enum mem {
#define MEM_ENUM(name, text) MEM_##name,
	MEM_LIST(MEM_ENUM)
#undef MEM_ENUM
	MEM_N
};
extern const char *const mem_names[MEM_N];

struct op {
	double alone_s;
	double amount; /* in the unit of its kind */
	uint32_t first_dep; /* into deps; the next op's first_dep ends the run */
	int32_t subgroup; /* subject, -1 none: for traces */
	uint8_t kind; /* enum op_kind */
	uint8_t lane; /* enum lane */
	uint8_t phase; /* enum phase */
	uint8_t iteration;
	uint16_t rank;
	uint8_t stream; /* enum stream */
	uint8_t flags; /* enum op_flag */
};

enum op_flag { OP_IS_PUSH = 1, OP_WAITS_PUSHES = 2 };

/* Streams of copies: which copies an engine keeps together. Their order on a stream is written as dependencies. */
enum stream { STREAM_DEFAULT, STREAM_FETCH, STREAM_FETCH_LAST = STREAM_FETCH + 2, STREAM_PUSH, STREAM_REDUCE, STREAM_N };

struct mem_event {
	double bytes; /* + allocated, - freed */
	op_id op;
	uint8_t at_end; /* 0: when the op starts, 1: when it ends */
	uint8_t pool; /* enum pool */
	uint8_t mem; /* enum mem */
};

struct schedule {
	const struct cost *cost; /* borrowed */
	struct arena *arena; /* borrowed */
	struct op *ops; /* n_ops + 1 entries: the last holds the final first_dep */
	size_t n_ops, cap_ops;
	uint32_t *deps;
	size_t n_deps, cap_deps;
	struct mem_event *mem; /* in order of creation */
	size_t n_mem, cap_mem;
	double resident_bytes[POOL_N][MEM_N]; /* held from start to end, per rank */
	size_t n_iterations;
	size_t n_ranks; /* ranks with operations of their own; folded runs have 1 */
	op_id *marks; /* [iteration][phase]: MAIN's last operation of the phase, rank 0 */
	/* stamped on new operations */
	uint16_t rank;
	uint8_t iteration, phase;
};

void schedule_init(struct schedule *s, const struct cost *cost, struct arena *arena);
/* Appends an operation after all of deps (NO_OP entries are skipped). amount >= 0. */
op_id schedule_op(struct schedule *s, enum op_kind kind, double amount, const op_id *deps, size_t n_deps);
/* Adds one more dependency to the newest operation. */
void schedule_dep(struct schedule *s, op_id dep);
void schedule_mem(struct schedule *s, op_id op, bool at_end, enum pool pool, enum mem mem, double bytes);
/* Asserts the invariants; used by tests. */
void schedule_check(const struct schedule *s);

#endif

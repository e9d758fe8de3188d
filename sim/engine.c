/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop, once per instant at which something ends:
 *   1. end every operation whose end is now (lane order), release its dependents into the queues of their lanes;
 *   2. run operations without duration (waits), which releases more, until none is left; then start what idle lanes hold;
 *   3. if the set of running operations changed, look up or compute speeds where it did and move the ends that changed.
 */
#include "sim/engine.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "sim/speed_cache.h"
#include "sim/task.h"

/* Ready operations of one stream on one lane, linked by next. */
struct queue {
	op_id head, tail;
};

struct lane_state {
	op_id running; /* NO_OP: idle */
	struct queue queues[STREAM_N];
	uint32_t filled; /* bit i: queues[i] holds something */
	op_id last; /* last operation that ended here */
	double speed;
	double end_s; /* predicted end at the present speed */
	double since_s; /* start of the present speed */
	uint8_t limit; /* what holds the present speed, RES_N: nothing */
	bool is_stretched; /* was ever slowed */
	double limited_s[RES_N + 1]; /* time spent under each limit */
};

/* Lanes by number, RANK_LANES a rank, walked in order: an event touches the lanes in use, not all. */
struct lane_set {
	uint64_t *words;
};

struct rank_state {
	op_id push; /* last push enqueued */
	op_id waiter; /* MAIN's operation that waits for pushes, NO_OP: none has been reached */
	op_id awaited; /* the push it waits for, NO_OP: none was enqueued */
	double next_s; /* first end on its lanes, DBL_MAX when they are idle */
};

struct engine {
	const struct schedule *s;
	struct timeline *t;
	struct lane_state *lanes;
	size_t n_words; /* of a set of lanes */
	struct lane_set busy, queued; /* something runs; something waits */
	struct rank_state *ranks;
	struct speed_cache cache;
	struct tasks tasks;
	size_t n_order, n_ended;
	size_t n_instants; /* operations without duration in the queues */
	double now_s, busy_s, next_end_s;
	bool is_changed; /* the running set differs from that of the present speeds */
};

static void set_add(struct lane_set *set, size_t lane)
{
	set->words[lane / 64] |= (uint64_t)1 << lane % 64;
}

static void set_remove(struct lane_set *set, size_t lane)
{
	set->words[lane / 64] &= ~((uint64_t)1 << lane % 64);
}

/* Takes the lowest lane out of a word of a set that is being walked. */
static size_t take_lowest(uint64_t *word, size_t n)
{
	const size_t lane = 64 * n + (size_t)__builtin_ctzll(*word);
	*word &= *word - 1;
	return lane;
}

/* Does an operation that becomes ready now run after `other` of its lane? */
static bool is_behind(const struct engine *e, op_id id, op_id other)
{
	return other == NO_OP || e->tasks.of[other].ready_s < e->now_s || other < id;
}

/* Queues by (ready time, creation): behind all that were ready earlier, in order of creation among those ready now. */
static void enqueue(struct engine *e, op_id id)
{
	struct task *const tasks = e->tasks.of, *const task = &tasks[id];
	struct lane_state *const lane = &e->lanes[task->lane];
	struct queue *const queue = &lane->queues[task->stream];
	op_id *link = &queue->head;
	set_add(&e->queued, task->lane);
	lane->filled |= 1u << task->stream;
	if (queue->tail != NO_OP && is_behind(e, id, queue->tail))
		link = &tasks[queue->tail].next;
	else
		while (*link != NO_OP && is_behind(e, id, *link))
			link = &tasks[*link].next;
	e->n_instants += task->alone_s <= 0;
	task->next = *link;
	*link = id;
	if (task->next == NO_OP)
		queue->tail = id;
}

/* The queue that an idle lane turns to: that of the stream whose operation has just ended, else of the operation that has been
 * ready longest. E11 */
static size_t next_queue(const struct engine *e, const struct lane_state *lane)
{
	const struct task *const tasks = e->tasks.of;
	if ((lane->filled & (lane->filled - 1)) == 0)
		return (size_t)__builtin_ctz(lane->filled);
	if (lane->last != NO_OP && tasks[lane->last].end_s == e->now_s && lane->filled >> tasks[lane->last].stream & 1)
		return tasks[lane->last].stream;
	size_t oldest = (size_t)__builtin_ctz(lane->filled);
	for (uint32_t left = lane->filled & (lane->filled - 1); left; left &= left - 1) {
		const size_t i = (size_t)__builtin_ctz(left);
		const op_id id = lane->queues[i].head, other = lane->queues[oldest].head;
		if (tasks[id].ready_s < tasks[other].ready_s || (tasks[id].ready_s == tasks[other].ready_s && id < other))
			oldest = i;
	}
	return oldest;
}

static void release(struct engine *e, op_id id, op_id cause)
{
	struct task *const task = &e->tasks.of[id];
	task->ready_s = e->now_s;
	task->cause = cause;
	if (task->flags & OP_IS_PUSH) {
		struct rank_state *const rank = &e->ranks[task->lane / RANK_LANES];
		if (is_behind(e, id, rank->push))
			rank->push = id;
	}
	enqueue(e, id);
}

static void end_op(struct engine *e, op_id id)
{
	struct task *const tasks = e->tasks.of, *const task = &tasks[id];
	const op_id *const dependents = &e->tasks.dependents[task->first_dependent];
	task->end_s = e->now_s;
	e->t->order[e->n_order++] = id << 1 | 1;
	e->n_ended++;
	e->lanes[task->lane].last = id;
	for (uint32_t i = 0; i < task->n_dependents; i++)
		if (--tasks[dependents[i]].n_open == 0)
			release(e, dependents[i], id);
}

/* Books the time since the last change of speed under the limit it ran with. */
static void book(struct lane_state *lane, double now_s)
{
	lane->limited_s[lane->limit] += now_s - lane->since_s;
	lane->is_stretched |= lane->limit != RES_N;
	lane->since_s = now_s;
}

static void start_op(struct engine *e, size_t n, op_id id)
{
	struct task *const tasks = e->tasks.of, *const task = &tasks[id];
	struct lane_state *const lane = &e->lanes[n];
	task->start_s = e->now_s;
	if (e->now_s > task->ready_s && lane->last != NO_OP && tasks[lane->last].end_s == e->now_s)
		task->cause = lane->last;
	e->t->order[e->n_order++] = id << 1;
	if (task->alone_s <= 0)
		return;
	if (task->n_dependents > 0)
		__builtin_prefetch(&tasks[e->tasks.dependents[task->first_dependent]], 1);
	lane->running = id;
	lane->speed = 0;
	lane->end_s = task->alone_s; /* work left; becomes an instant once the speed is known */
	lane->since_s = e->now_s;
	lane->limit = RES_N;
	if (lane->is_stretched)
		memset(lane->limited_s, 0, sizeof lane->limited_s);
	lane->limited_s[RES_N] = 0;
	lane->is_stretched = false;
	set_add(&e->busy, n);
	speed_cache_start(&e->cache, n / RANK_LANES, task->kind);
	e->is_changed = true;
}

static op_id take_head(struct engine *e, size_t n, size_t stream)
{
	struct lane_state *const lane = &e->lanes[n];
	struct queue *const queue = &lane->queues[stream];
	const op_id id = queue->head;
	queue->head = e->tasks.of[id].next;
	if (queue->head == NO_OP) {
		queue->tail = NO_OP;
		lane->filled &= ~(1u << stream);
		if (!lane->filled)
			set_remove(&e->queued, n);
	}
	return id;
}

/* True while an operation that waits for pushes has to. What it waits for is fixed when it is first asked: the last push
 * enqueued by then (they run in order). */
static bool waits_for_pushes(struct engine *e, op_id id)
{
	struct task *const tasks = e->tasks.of, *const task = &tasks[id];
	if (!(task->flags & OP_WAITS_PUSHES))
		return false;
	struct rank_state *const rank = &e->ranks[task->lane / RANK_LANES];
	if (rank->waiter != id) {
		rank->waiter = id;
		rank->awaited = rank->push;
	}
	if (rank->awaited == NO_OP)
		return false;
	if (tasks[rank->awaited].end_s < 0)
		return true;
	if (tasks[rank->awaited].end_s > task->ready_s)
		task->cause = rank->awaited;
	return false;
}

/* Runs the operations without duration at the head of an idle lane; returns true if there was one. */
static bool run_instants(struct engine *e, size_t n)
{
	struct lane_state *const lane = &e->lanes[n];
	bool has_ended = false;
	while (lane->filled) {
		const size_t stream = next_queue(e, lane);
		const op_id id = lane->queues[stream].head;
		if (e->tasks.of[id].alone_s > 0 || waits_for_pushes(e, id))
			break;
		take_head(e, n, stream);
		e->n_instants--;
		start_op(e, n, id);
		end_op(e, id);
		has_ended = true;
	}
	return has_ended;
}

/* All idle lanes in order, those that fill on the way included; returns true if something ended, which may have released more. */
static bool start_instants(struct engine *e)
{
	bool has_ended = false;
	for (size_t w = 0; w < e->n_words; w++)
		for (uint64_t above = UINT64_MAX, idle; (idle = e->queued.words[w] & ~e->busy.words[w] & above) != 0;) {
			const size_t n = take_lowest(&idle, w);
			above = ~(((uint64_t)2 << n % 64) - 1);
			has_ended |= run_instants(e, n);
		}
	return has_ended;
}

static void start_heads(struct engine *e)
{
	for (size_t w = 0; w < e->n_words; w++)
		for (uint64_t idle = e->queued.words[w] & ~e->busy.words[w]; idle;) {
			const size_t n = take_lowest(&idle, w), stream = next_queue(e, &e->lanes[n]);
			if (e->tasks.of[e->lanes[n].queues[stream].head].alone_s > 0)
				start_op(e, n, take_head(e, n, stream));
		}
}

/* Lanes of a rank that run something, as bits. */
static uint64_t busy_of(const struct engine *e, size_t rank)
{
	const size_t first = rank * RANK_LANES;
	return e->busy.words[first / 64] >> first % 64 & (((uint64_t)1 << RANK_LANES) - 1);
}

static void set_speed(struct engine *e, size_t n, double speed, uint8_t limit)
{
	struct lane_state *const lane = &e->lanes[n];
	if (speed == lane->speed && limit == lane->limit)
		return;
	const double left = lane->speed > 0 ? (lane->end_s - e->now_s) * lane->speed : lane->end_s;
	book(lane, e->now_s);
	lane->speed = speed;
	lane->limit = limit;
	lane->end_s = e->now_s + (left > 0 ? left : 0) / speed;
}

static void set_rank_speeds(struct engine *e, size_t rank, const struct speeds *speeds)
{
	const size_t first = rank * RANK_LANES;
	double next_s = DBL_MAX;
	for (uint64_t busy = busy_of(e, rank); busy;) {
		const size_t lane = take_lowest(&busy, 0);
		set_speed(e, first + lane, speeds->speed[lane], speeds->limit[lane]);
		next_s = e->lanes[first + lane].end_s < next_s ? e->lanes[first + lane].end_s : next_s;
	}
	e->ranks[rank].next_s = next_s;
}

/* Speeds of the present set, and the next end; only ranks that a change can reach are touched. */
static void set_speeds(struct engine *e)
{
	double next_s = DBL_MAX;
	speed_cache_ask(&e->cache);
	for (size_t i = 0; i < e->cache.n_answered; i++)
		set_rank_speeds(e, e->cache.answer[i].rank, e->cache.answer[i].speeds);
	for (size_t rank = 0; rank < e->s->n_ranks; rank++)
		next_s = e->ranks[rank].next_s < next_s ? e->ranks[rank].next_s : next_s;
	e->next_end_s = next_s;
	e->is_changed = false;
	e->t->n_rate_changes++;
}

/* What an operation was slowed by longest, if it was slowed most of its time; else what limits its kind alone. */
static void judge(struct engine *e, struct lane_state *lane, op_id id)
{
	book(lane, e->now_s);
	if (!lane->is_stretched)
		return;
	size_t worst = RES_N;
	for (size_t r = 0; r < RES_N; r++)
		if (lane->limited_s[r] > lane->limited_s[worst])
			worst = r;
	if (worst != RES_N)
		e->tasks.of[id].limit = (uint8_t)worst;
}

static void end_lane(struct engine *e, size_t n)
{
	struct lane_state *const lane = &e->lanes[n];
	const op_id id = lane->running;
	judge(e, lane, id);
	lane->running = NO_OP;
	set_remove(&e->busy, n);
	speed_cache_end(&e->cache, n / RANK_LANES, e->tasks.of[id].kind);
	e->busy_s += e->now_s - e->tasks.of[id].start_s;
	e->is_changed = true;
	end_op(e, id);
}

static void end_due(struct engine *e)
{
	for (size_t rank = 0; rank < e->s->n_ranks; rank++)
		for (uint64_t busy = e->ranks[rank].next_s <= e->now_s ? busy_of(e, rank) : 0; busy;) {
			const size_t n = rank * RANK_LANES + take_lowest(&busy, 0);
			if (e->lanes[n].end_s <= e->now_s)
				end_lane(e, n);
		}
}

static void settle(struct engine *e)
{
	while (e->n_instants > 0 && start_instants(e))
		;
	start_heads(e);
	if (e->is_changed)
		set_speeds(e);
}

static void engine_init(
    struct engine *e, struct timeline *t, const struct schedule *s, const struct sharing *sharing, struct arena *arena)
{
	memset(t, 0, sizeof *t);
	memset(e, 0, sizeof *e);
	e->s = s;
	e->t = t;
	t->order = arena_alloc(arena, 2 * s->n_ops, sizeof *t->order);
	const size_t n_lanes = s->n_ranks * RANK_LANES;
	e->n_words = (n_lanes + 63) / 64;
	e->lanes = arena_zalloc(arena, n_lanes, sizeof *e->lanes);
	e->busy.words = arena_zalloc(arena, e->n_words, sizeof *e->busy.words);
	e->queued.words = arena_zalloc(arena, e->n_words, sizeof *e->queued.words);
	e->ranks = arena_alloc(arena, s->n_ranks, sizeof *e->ranks);
	for (size_t i = 0; i < n_lanes; i++) {
		e->lanes[i].running = e->lanes[i].last = NO_OP;
		for (size_t q = 0; q < STREAM_N; q++)
			e->lanes[i].queues[q] = (struct queue){NO_OP, NO_OP};
	}
	for (size_t i = 0; i < s->n_ranks; i++)
		e->ranks[i] = (struct rank_state){NO_OP, NO_OP, NO_OP, DBL_MAX};
	tasks_init(&e->tasks, s, RANK_LANES, arena);
	speed_cache_init(&e->cache, sharing, s->cost, s->n_ranks, arena);
}

void engine_run(
    struct timeline *timeline, const struct schedule *schedule, const struct sharing *sharing, struct arena *arena)
{
	struct engine e;
	engine_init(&e, timeline, schedule, sharing, arena);
	for (size_t i = 0; i < schedule->n_ops; i++)
		if (e.tasks.of[i].n_open == 0)
			release(&e, (op_id)i, NO_OP);
	settle(&e);
	while (e.n_ended < schedule->n_ops) {
		assert(e.next_end_s < DBL_MAX && e.next_end_s >= e.now_s);
		e.now_s = e.next_end_s;
		end_due(&e);
		settle(&e);
	}
	tasks_write(timeline, &e.tasks, schedule, arena);
	timeline->makespan_s = e.now_s;
	timeline->n_allocations = e.cache.n_computed;
	timeline->concurrency = e.now_s > 0 ? e.busy_s / e.now_s : 0;
}

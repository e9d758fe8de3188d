/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/windows.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MAIN, WORKER, UP, DOWN, GPU, N_RUNNING }; /* the first WINDOW_LANES slow each other */
enum main_kind { IDLE, OVERHEAD, UNSCALE, ADAM };
enum step { START, AWAIT_PUSHES, RUN_OVERHEAD, RUN_UNSCALE, RUN_ADAM, END_PIECE, AWAIT_FETCH, ENQUEUE_ADAM, AWAIT_ALL, ENDED };
/* 16 windows followed are 0.1 % from the simulation in the mean of 2,400 updates; 8 were three times as far, 32 half as far. */
enum { N_DOWN = 4, PIECES_MAX = 80, PUSHES_MAX = (WINDOWS_FOLLOWED + 1) * PIECES_MAX };
_Static_assert((int)PUSHES_MAX >= (int)WINDOWS_LIST_MAX && (int)WINDOWS_LIST_MAX >= (int)WINDOWS_FOLLOWED, "a list is followed to its end");

/* ---- speeds */

void window_speeds_init(struct window_speeds *s, const struct cost *cost, const struct interleave *how)
{
	*s = (struct window_speeds){.cost = cost, .adam = interleave_adam_kind(how)};
}

/* Also waiting may take a thread's time (OP_SYNC). */
static void find_speeds(struct window_speeds *s, size_t set)
{
	const enum op_kind main_kinds[WINDOW_MAIN_KINDS] = {OP_SYNC, OP_HOST, OP_CPU_UNSCALE, s->adam};
	const enum op_kind kinds[WINDOW_LANES] = {main_kinds[set >> 3], OP_CPU_DOWNSCALE, OP_H2D, OP_D2H};
	const bool runs[WINDOW_LANES] = {true, set & 4, set & 2, set & 1};
	lanes_speeds(s->speeds[set], kinds, runs, s->cost);
	s->is_known[set] = true;
}

const double *window_speeds_of(struct window_speeds *s, size_t set)
{
	if (!s->is_known[set])
		find_speeds(s, set);
	return s->speeds[set];
}

static const double *speeds_of(struct window_speeds *s, const double left_s[], enum main_kind main_kind)
{
	size_t set = left_s[MAIN] > 0 ? main_kind : IDLE;
	for (size_t lane = WORKER; lane < WINDOW_LANES; lane++)
		set = 2 * set + (left_s[lane] > 0);
	return window_speeds_of(s, set);
}

/* ---- pieces */

/* CPU subgroups in a row, as pieces that grow towards the middle: the first and the last, for which others wait, are single. */
struct pieces {
	size_t n;
	double sizes[PIECES_MAX];
};

static void pieces_init(struct pieces *p, size_t n_subgroups, size_t largest)
{
	double tail[PIECES_MAX];
	size_t n_tail = 0;
	p->n = 0;
	for (size_t size = 1; n_subgroups > 0; size = p->n > 1 && 2 * size <= largest ? 2 * size : size) {
		const size_t head = n_subgroups < size ? n_subgroups : size;
		const size_t end = n_subgroups - head < size ? n_subgroups - head : size;
		p->sizes[p->n++] = (double)head;
		if (end > 0)
			tail[n_tail++] = (double)end;
		n_subgroups -= head + end;
	}
	while (n_tail > 0)
		p->sizes[p->n++] = tail[--n_tail];
}

/* ---- the race */

struct race {
	struct window_speeds *speeds;
	const struct windows *w;
	size_t n_windows; /* followed */
	size_t n_copies, n_buffers;
	size_t n_full, n_rest; /* CPU pieces of a window, behind the last */
	double now_s, left_s[N_RUNNING]; /* left: at alone speed, 0: idle */
	/* MAIN's program */
	enum step step;
	enum main_kind main_kind;
	size_t window, piece;
	size_t n_awaited; /* pushes */
	/* pieces: updated, handed to the WORKER, cast, enqueued as pushes, pushed */
	size_t n_adams, n_handed, n_cast, n_pushes, n_pushed;
	/* streamed subgroups: fetches, GPU Adams and write-backs that are enqueued; Adams and copies that have ended */
	size_t n_fetches, n_gpu, n_backs, n_updated, n_up, n_down;
	double fetch_ready_s; /* of the next fetch copy; negative: it is not */
	double down_s[N_DOWN]; /* ends of the last write-back copies, at least of those of one subgroup */
	bool is_pushing, stays; /* H2D: what ran last; its stream goes on if it can */
	struct mark {
		double start_s, cast_s, no_cast_s; /* casts until then at alone speed; WORKER's time without */
	} at; /* now */
	double loop_s, updated_s; /* end of MAIN's loop, of the newest GPU Adam */
	struct pieces full, rest; /* of equal subgroups; from here not cleared at the start */
	struct mark marks[WINDOWS_LIST_MAX + 1]; /* starts of windows, and of what is behind them */
	double push_ready_s[PUSHES_MAX];
};

/* A CPU piece: so many subgroups of the same times. */
static const struct subgroup_times *piece_of(const struct race *r, size_t piece, double *n_subgroups)
{
	const size_t n_before = r->n_windows * r->n_full, stride = r->n_full + 1;
	if (!r->w->each) {
		*n_subgroups = piece < n_before ? r->full.sizes[piece % r->n_full] : r->rest.sizes[piece - n_before];
		return &r->w->cpu;
	}
	*n_subgroups = 1;
	return &r->w->each[piece < n_before ? piece / r->n_full * stride + piece % r->n_full : piece + r->n_windows];
}

static const struct subgroup_times *streamed_of(const struct race *r, size_t j)
{
	return r->w->each ? &r->w->each[(j + 1) * (r->n_full + 1) - 1] : &r->w->gpu;
}

static void enqueue_push(struct race *r)
{
	r->push_ready_s[r->n_pushes++] = r->now_s;
}

/* ---- MAIN: E13 */

static void start_window(struct race *r)
{
	const bool is_rest = r->window == r->n_windows;
	const size_t n_wanted = r->window + r->n_buffers;
	r->marks[r->window] = r->at;
	r->marks[r->window].start_s = r->now_s;
	r->step = AWAIT_PUSHES;
	r->piece = 0;
	if (is_rest && r->n_rest == 0)
		return;
	r->n_backs = r->window;
	r->n_fetches = n_wanted < r->n_windows ? n_wanted : r->n_windows;
	r->n_awaited = r->n_pushes;
}

static void end_piece(struct race *r, size_t n_pieces)
{
	const enum downscale downscale = r->w->how->downscale;
	r->n_adams++;
	r->piece++;
	if (!downscale_is_a_pass(downscale))
		enqueue_push(r);
	else if (downscale == DOWNSCALE_EAGER || r->piece == n_pieces)
		r->n_handed = r->n_adams;
}

static bool has_ended(const struct race *r)
{
	if (r->n_pushed < r->n_adams || r->n_updated < r->n_gpu)
		return false;
	return r->w->how->chain == CHAIN_PUBLISHED || r->n_down == r->n_backs * r->n_copies;
}

static void run_main(struct race *r, enum main_kind kind, double s)
{
	r->main_kind = kind;
	r->left_s[MAIN] = s;
	r->step++;
}

static void run_piece(struct race *r)
{
	double n;
	const struct subgroup_times *const cpu = piece_of(r, r->n_adams, &n);
	if (r->step == RUN_OVERHEAD)
		run_main(r, OVERHEAD, n * cpu->overhead_s);
	else if (r->step == RUN_UNSCALE)
		run_main(r, UNSCALE, n * cpu->unscale_s);
	else
		run_main(r, ADAM, n * (cpu->cpu_s - cpu->overhead_s - cpu->unscale_s));
}

/* Returns whether MAIN need not wait for it any longer. */
static bool may_pass(const struct race *r)
{
	switch (r->step) {
	case AWAIT_PUSHES: return r->n_pushed >= r->n_awaited;
	case AWAIT_FETCH: return r->n_up >= (r->window + 1) * r->n_copies;
	case AWAIT_ALL: return has_ended(r);
	default: return r->step != ENDED;
	}
}

/* The next step of an idle MAIN; false: it waits. */
static bool main_steps(struct race *r)
{
	const bool is_rest = r->window == r->n_windows;
	const size_t n_pieces = is_rest ? r->n_rest : r->n_full;
	if (r->step == AWAIT_ALL && r->w->how->chain != CHAIN_PUBLISHED)
		r->n_backs = r->n_windows;
	if (!may_pass(r))
		return false;
	switch (r->step) {
	case START: start_window(r); return true;
	case END_PIECE: end_piece(r, n_pieces); break;
	case AWAIT_FETCH: run_main(r, OVERHEAD, streamed_of(r, r->window)->stream_s); return true;
	case ENQUEUE_ADAM:
		r->n_gpu = ++r->window;
		r->step = START;
		return true;
	case AWAIT_ALL: r->step = ENDED; return true;
	case AWAIT_PUSHES: break;
	default: run_piece(r); return true;
	}
	r->step = r->piece < n_pieces ? RUN_OVERHEAD : is_rest ? AWAIT_ALL : AWAIT_FETCH;
	r->loop_s = r->now_s;
	return true;
}

/* ---- the other lanes, when idle: E10-E12 */

/* fmax is a call. */
static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* What takes no time ends at once, but ends. */
static void start(struct race *r, size_t lane, double s)
{
	r->left_s[lane] = larger(DBL_MIN, s);
}

static void start_cast(struct race *r)
{
	double n;
	if (r->left_s[WORKER] > 0 || r->n_cast == r->n_handed)
		return;
	const struct subgroup_times *const cpu = piece_of(r, r->n_cast, &n);
	start(r, WORKER, n * cpu->downscale_s);
}

static void start_gpu(struct race *r)
{
	if (r->left_s[GPU] <= 0 && r->n_updated < r->n_gpu)
		start(r, GPU, streamed_of(r, r->n_updated)->gpu_adam_s);
}

static void start_down(struct race *r)
{
	const size_t n_ready = r->n_copies * (r->n_backs < r->n_updated ? r->n_backs : r->n_updated);
	if (r->left_s[DOWN] <= 0 && r->n_down < n_ready)
		start(r, DOWN, streamed_of(r, r->n_down / r->n_copies)->write_back_s);
}

/* Is the next fetch copy enqueued, and free what it overwrites? */
static bool can_fetch(const struct race *r)
{
	const size_t n_free = r->n_buffers * r->n_copies;
	return r->n_up < r->n_fetches * r->n_copies && (r->n_up < n_free || r->n_down > r->n_up - n_free);
}

/* Since when the next fetch copy is ready. On one stream not before the fetch before it has ended: it is asked then. */
static double fetch_ready_s(const struct race *r)
{
	const size_t j = r->n_up / r->n_copies;
	if (r->w->how->chain == CHAIN_DUPLEX)
		return r->now_s;
	return j > 0 ? fmax(r->marks[j].start_s, r->down_s[(r->n_up - r->n_copies) % N_DOWN]) : r->marks[0].start_s;
}

static void start_up(struct race *r)
{
	if (r->left_s[UP] > 0 && r->fetch_ready_s >= 0)
		return;
	const bool has_push = r->n_pushed < r->n_pushes, has_fetch = can_fetch(r);
	if (r->fetch_ready_s < 0 && has_fetch)
		r->fetch_ready_s = fetch_ready_s(r);
	if (r->left_s[UP] > 0 || (!has_push && !has_fetch))
		return;
	bool is_push = has_push;
	if (has_push && has_fetch)
		is_push = r->stays ? r->is_pushing : r->push_ready_s[r->n_pushed] < r->fetch_ready_s;
	r->is_pushing = is_push;
	double n = 1;
	const struct subgroup_times *const times = is_push ? piece_of(r, r->n_pushed, &n) : streamed_of(r, r->n_up / r->n_copies);
	start(r, UP, n * (is_push ? times->push_s : times->fetch_s));
}

static void start_all(struct race *r)
{
	while (r->left_s[MAIN] <= 0 && main_steps(r))
		;
	start_cast(r);
	start_gpu(r);
	start_down(r);
	start_up(r);
}

static void end_lane(struct race *r, size_t lane)
{
	r->left_s[lane] = 0;
	switch (lane) {
	case WORKER:
		r->n_cast++;
		enqueue_push(r);
		return;
	case UP:
		r->stays = r->is_pushing || r->w->how->chain != CHAIN_PUBLISHED;
		r->n_pushed += r->is_pushing;
		r->n_up += !r->is_pushing;
		r->fetch_ready_s = r->is_pushing ? r->fetch_ready_s : -1;
		return;
	case DOWN: r->down_s[r->n_down++ % N_DOWN] = r->now_s; return;
	case GPU:
		r->n_updated++;
		r->updated_s = r->now_s;
		return;
	default: return; /* MAIN goes on by itself */
	}
}

/* Until the next lane ends. What would end with it by rounding ends at once after it. */
static void advance(struct race *r)
{
	const double *const shares = speeds_of(r->speeds, r->left_s, r->main_kind);
	double speeds[N_RUNNING] = {[GPU] = 1}, passed_s = INFINITY;
	size_t first = MAIN;
	memcpy(speeds, shares, WINDOW_LANES * sizeof *shares);
	for (size_t lane = MAIN; lane < N_RUNNING; lane++) {
		const double end_s = r->left_s[lane] > 0 ? r->left_s[lane] / speeds[lane] : (double)INFINITY;
		if (end_s < passed_s) {
			passed_s = end_s;
			first = lane;
		}
	}
	assert(passed_s < INFINITY);
	if (r->left_s[WORKER] > 0)
		r->at.cast_s += passed_s * speeds[WORKER];
	else
		r->at.no_cast_s += passed_s;
	for (size_t lane = MAIN; lane < N_RUNNING; lane++)
		if (r->left_s[lane] > 0)
			r->left_s[lane] = larger(DBL_MIN, r->left_s[lane] - passed_s * speeds[lane]);
	r->now_s += passed_s;
	end_lane(r, first);
}

static void race_init(struct race *r, struct window_speeds *speeds, const struct windows *w)
{
	memset(r, 0, offsetof(struct race, full));
	r->speeds = speeds;
	r->w = w;
	r->n_windows = w->each || w->n < WINDOWS_FOLLOWED ? w->n : WINDOWS_FOLLOWED;
	r->n_copies = interleave_n_copies(w->how);
	r->n_buffers = interleave_n_buffers(w->how);
	r->n_full = w->n_cpu;
	r->n_rest = w->n_left;
	r->fetch_ready_s = -1;
	if (w->each)
		return;
	pieces_init(&r->full, w->n_cpu, w->n_cpu);
	pieces_init(&r->rest, w->n_left, w->n_left / 16 + 1);
	r->n_full = r->full.n;
	r->n_rest = r->rest.n;
}

/* What one window more adds: as long as the later half of those followed, and where the WORKER never rests, the casts that it falls
 * behind by. */
static double window_more_s(const struct race *r)
{
	const size_t half = r->n_windows / 2;
	const struct mark *const from = &r->marks[half], *const to = &r->marks[r->n_windows];
	const double n = (double)(r->n_windows - half), each_s = (to->start_s - from->start_s) / n;
	if (to->no_cast_s > from->no_cast_s)
		return each_s;
	return each_s + fmax(0, (double)r->w->n_cpu * r->w->cpu.downscale_s - (to->cast_s - from->cast_s) / n);
}

double windows_least_s(struct window_speeds *speeds, const struct windows *w)
{
	const struct subgroup_times *const cpu = &w->cpu;
	const struct cost *const cost = speeds->cost;
	const double only_main_s[N_RUNNING] = {[MAIN] = 1}, rounding = 1e-9;
	const double unscale = speeds_of(speeds, only_main_s, UNSCALE)[MAIN], adam = speeds_of(speeds, only_main_s, ADAM)[MAIN];
	const double each_s = cpu->overhead_s + cpu->unscale_s / unscale + (cpu->cpu_s - cpu->overhead_s - cpu->unscale_s) / adam;
	const size_t n_followed = w->each || w->n < WINDOWS_FOLLOWED ? w->n : WINDOWS_FOLLOWED;
	const double more_s = (double)(w->n - n_followed) * ((double)w->n_cpu * each_s + w->gpu.stream_s);
	const double n_cpu = (double)(n_followed * w->n_cpu + w->n_left), n_gpu = (double)n_followed;
	const double main_s = n_cpu * each_s + n_gpu * w->gpu.stream_s;
	const double bytes = n_cpu * cpu->cpu_dram_bytes + fmax(0, n_gpu - 1) * w->gpu.gpu_dram_bytes; /* the last may spill */
	const double dram_s = cost->hw->dram_latency_Bps > 0 ? 0 : cost->ranks_per_domain * bytes / cost->dram_Bps;
	return (fmax(main_s, dram_s) + more_s) * (1 - rounding);
}

double windows_update_s(struct window_speeds *speeds, const struct windows *w)
{
	struct race r;
	race_init(&r, speeds, w);
	for (start_all(&r); r.step != ENDED; start_all(&r))
		advance(&r);
	const double more_s = w->n > r.n_windows ? (double)(w->n - r.n_windows) * window_more_s(&r) : 0;
	return fmax(r.now_s, fmax(r.loop_s, r.updated_s) + w->resident_s) + more_s; /* E35 */
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay_items.h"

#include <stdlib.h>
#include <string.h>

static const int64_t slack_ns = 2000; /* two clocks */
static const int64_t join_least_ns = 200000; /* shorter stretches are no waiting for a worker */
static const double join_rest_frac = 0.15; /* of a stretch, between the worker's call and its end */
enum { QUEUE_LEAST = 256 };

/* ---- orders of events */

static int compare_link(const void *a, const void *b, void *context)
{
	const struct rec_event *const events = context;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (events[i].link != events[j].link)
		return events[i].link < events[j].link ? -1 : 1;
	return i < j ? -1 : 1;
}

static int compare_end(const void *a, const void *b, void *context)
{
	const struct rec_event *const events = context;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (rec_end_ns(&events[i]) != rec_end_ns(&events[j]))
		return rec_end_ns(&events[i]) < rec_end_ns(&events[j]) ? -1 : 1;
	return i < j ? -1 : 1;
}

static uint32_t *sorted(const struct recording *rec, int (*compare)(const void *, const void *, void *))
{
	uint32_t *const order = xmalloc(rec->n_events + 1, sizeof(*order));

	for (size_t i = 0; i < rec->n_events; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, rec->n_events, sizeof(*order), compare, rec->events);
	return order;
}

/* Number of events that ended by a time. */
static size_t n_ended(const struct replay_items *items, int64_t at_ns)
{
	size_t low = 0, high = items->rec->n_events;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (rec_end_ns(&items->rec->events[items->by_end[middle]]) <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int32_t replay_items_last_end(const struct replay_items *items, int64_t after_ns, int64_t until_ns, int not_stream)
{
	for (size_t i = n_ended(items, until_ns); i-- > 0;) {
		const struct rec_event *const event = &items->rec->events[items->by_end[i]];
		if (rec_end_ns(event) <= after_ns)
			break;
		if (event->kind != REC_HOST && event->stream != not_stream)
			return (int32_t)items->by_end[i];
	}
	return REPLAY_NONE;
}

/* Run of by_link that a call launched. */
static void find_launched(struct replay_item *item, const struct replay_items *items, uint32_t link)
{
	const struct rec_event *const events = items->rec->events;
	size_t low = 0, high = items->rec->n_events;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (events[items->by_link[middle]].link < link)
			low = middle + 1;
		else
			high = middle;
	}
	item->first_event = (int32_t)low;
	while (link && low < items->rec->n_events && events[items->by_link[low]].link == link) {
		item->key = item->key * 31 + events[items->by_link[low]].key;
		low++;
	}
	item->n_events = (int32_t)(low - (size_t)item->first_event);
}

/* ---- the list */

static struct replay_item *append(struct replay_items *items, enum replay_item_kind kind, int64_t start_ns, int64_t end_ns)
{
	if (items->n == items->capacity) {
		items->capacity += items->capacity / 2 + 1024;
		items->items = xrealloc(items->items, items->capacity, sizeof(*items->items));
	}
	struct replay_item *const item = &items->items[items->n++];
	*item = (struct replay_item){.start_ns = start_ns,
	    .end_ns = end_ns,
	    .kind = (uint8_t)kind,
	    .awaited_event = REPLAY_NONE,
	    .awaited_item = REPLAY_NONE,
	    .key = (uint32_t)kind + 1};
	return item;
}

static void add_call(struct replay_items *items, const struct rec_event *call)
{
	struct replay_item *const item =
	    append(items, call->kind == REC_SYNC ? ITEM_SYNC : ITEM_LAUNCH, call->start_ns, rec_end_ns(call));

	item->key = call->key;
	item->is_worker = !items->rec->streams[call->stream].is_framework;
	item->is_device_wide = strstr(items->rec->names[call->name], "DeviceSynchronize") != NULL;
	find_launched(item, items, call->link);
}

static void add_event(struct replay_items *items, size_t index)
{
	const struct rec_event *const event = &items->rec->events[index];
	const bool is_host = event->kind == REC_HOST;

	struct replay_item *const item = append(
	    items, is_host ? ITEM_WORK : ITEM_DEVICE, event->start_ns, is_host ? rec_end_ns(event) : event->start_ns);
	item->key = event->key;
	item->is_worker = is_host && !items->rec->streams[event->stream].is_framework;
	item->first_event = (int32_t)index; /* of events, not of by_link */
	item->n_events = !is_host;
}

/* Events that no call launched stand in the list themselves: recorded host work, and operations launched before the window. */
static bool stands_alone(const struct replay_items *items, const bool *is_launched, size_t index)
{
	return items->rec->events[index].kind == REC_HOST || !is_launched[index];
}

static bool *mark_launched(const struct replay_items *items)
{
	const struct recording *const rec = items->rec;
	bool *const is_launched = xmalloc(rec->n_events + 1, sizeof(*is_launched));
	struct replay_item item = {.key = 0};

	memset(is_launched, 0, rec->n_events);
	for (size_t i = 0; i < rec->n_calls; i++) {
		if (rec->calls[i].link == 0)
			continue;
		find_launched(&item, items, rec->calls[i].link);
		for (int32_t j = 0; j < item.n_events; j++)
			is_launched[items->by_link[item.first_event + j]] = true;
	}
	return is_launched;
}

static size_t first_call(const struct recording *rec, int64_t at_ns)
{
	size_t i = 0;

	while (i < rec->n_calls && rec->calls[i].start_ns < at_ns)
		i++;
	return i;
}

/* Boundaries between phases: the start of the first segment and of those after a pause, and the end of each. */
struct boundaries {
	size_t segment, end_segment;
	bool is_start; /* the next one is the start of the segment */
};

static int64_t boundary_ns(const struct boundaries *b, const struct recording *rec)
{
	return b->is_start ? rec->segments[b->segment].start_ns : rec->segments[b->segment].end_ns;
}

static void add_boundary(struct replay_items *items, struct boundaries *b)
{
	const struct rec_segment *const segments = items->rec->segments;
	const int64_t at_ns = boundary_ns(b, items->rec);

	append(items, ITEM_BOUNDARY, at_ns, at_ns)->segment = b->is_start ? REPLAY_NONE : (int32_t)b->segment;
	if (b->is_start) {
		b->is_start = false;
		return;
	}
	b->segment++;
	b->is_start = b->segment < b->end_segment && segments[b->segment].start_ns > segments[b->segment - 1].end_ns;
}

/* Merges calls, lone events and boundaries of the covered iterations; a boundary comes first among equals. */
static void merge(struct replay_items *items)
{
	const struct recording *const rec = items->rec;
	const struct rec_iteration *const last = &rec->iterations[items->rec->n_iterations - 1];
	struct boundaries b = {.end_segment = last->first_segment + last->n_segments, .is_start = true};
	bool *const is_launched = mark_launched(items);
	size_t call = first_call(rec, rec->segments[0].start_ns), event = 0;

	while (event < rec->n_events && rec->events[event].start_ns < rec->segments[0].start_ns)
		event++;
	while (b.segment < b.end_segment) {
		while (event < rec->n_events && !stands_alone(items, is_launched, event))
			event++;
		const int64_t call_ns = call < rec->n_calls ? rec->calls[call].start_ns : INT64_MAX;
		const int64_t event_ns = event < rec->n_events ? rec->events[event].start_ns : INT64_MAX;
		const int64_t next_ns = boundary_ns(&b, rec);
		if (next_ns <= call_ns && next_ns <= event_ns)
			add_boundary(items, &b);
		else if (call_ns <= event_ns)
			add_call(items, &rec->calls[call++]);
		else
			add_event(items, event++);
	}
	free(is_launched);
}

/* ---- what items waited for */

static void find_awaited(struct replay_item *item, const struct replay_items *items)
{
	const int64_t took_ns = item->end_ns - item->start_ns;
	const struct rec_event *own =
	    item->n_events > 0 && item->kind == ITEM_LAUNCH ? &items->rec->events[items->by_link[item->first_event]] : NULL;

	if (own && rec_end_ns(own) <= item->end_ns + slack_ns && (own->kind == REC_H2D || own->kind == REC_D2H) &&
	    own->duration_ns <= took_ns)
		item->awaited_event = (int32_t)items->by_link[item->first_event];
	else if (item->kind == ITEM_SYNC)
		item->awaited_event = replay_items_last_end(items, item->start_ns, item->end_ns + slack_ns, -1);
}

/* Operations launched and not ended, at the end of each launch; the most of them is the depth of the queue if that is deep. */
static void find_queue_depth(struct replay_items *items)
{
	size_t n_launched = n_ended(items, items->items[0].start_ns), most = 0;

	for (int pass = 0; pass < 2; pass++) {
		size_t n = n_launched;
		for (size_t i = 0; i < items->n; i++) {
			struct replay_item *const item = &items->items[i];
			if (item->kind != ITEM_LAUNCH)
				continue;
			n += (size_t)item->n_events;
			const size_t ended = n_ended(items, item->end_ns), open = n > ended ? n - ended : 0;
			if (pass == 0 && open > most)
				most = open;
			item->is_blocked = pass == 1 && most >= QUEUE_LEAST && open + open / 8 >= most;
		}
	}
	items->queue_depth = most >= QUEUE_LEAST ? most : 0;
}

struct threads {
	int64_t main_end_ns, worker_end_ns;
	uint32_t main_key, worker_key;
	int32_t worker_item; /* last of the worker since MAIN's last item */
	int32_t main_mark; /* first wait of MAIN since the worker's last item and the last boundary, else that boundary */
};

static void place_main(struct replay_item *item, int32_t index, struct threads *t, const struct replay_items *items)
{
	item->gap_ns = item->start_ns > t->main_end_ns ? item->start_ns - t->main_end_ns : 0;
	item->previous_key = t->main_key;
	if (t->worker_item != REPLAY_NONE && item->gap_ns > join_least_ns) {
		const int64_t rest_ns = item->start_ns - items->items[t->worker_item].end_ns;
		if (rest_ns >= 0 && (double)rest_ns < join_rest_frac * (double)item->gap_ns) {
			item->awaited_item = t->worker_item;
			item->gap_ns = rest_ns;
		}
	}
	t->worker_item = REPLAY_NONE;
	if (item->kind == ITEM_BOUNDARY ||
	    (item->kind == ITEM_SYNC && (t->main_mark == REPLAY_NONE || items->items[t->main_mark].kind == ITEM_BOUNDARY)))
		t->main_mark = index;
	t->main_key = item->key;
	t->main_end_ns = item->end_ns > t->main_end_ns ? item->end_ns : t->main_end_ns;
}

static void place_worker(struct replay_item *item, int32_t index, struct threads *t, const struct replay_items *items)
{
	const int64_t from_ns = t->main_mark != REPLAY_NONE ? items->items[t->main_mark].start_ns : t->worker_end_ns;

	item->awaited_item = t->main_mark;
	item->gap_ns = item->start_ns > from_ns ? item->start_ns - from_ns : 0;
	item->previous_key = t->worker_key;
	t->main_mark = REPLAY_NONE;
	t->worker_item = index;
	t->worker_key = item->key;
	t->worker_end_ns = item->end_ns;
}

static void place_all(struct replay_items *items)
{
	const int64_t begin_ns = items->items[0].start_ns;
	struct threads t = {
	    .main_end_ns = begin_ns, .worker_end_ns = begin_ns, .worker_item = REPLAY_NONE, .main_mark = REPLAY_NONE};
	int32_t iteration = 0;

	for (size_t i = 0; i < items->n; i++) {
		struct replay_item *const item = &items->items[i];
		while ((size_t)iteration + 1 < items->rec->n_iterations &&
		    item->start_ns >= items->rec->iterations[iteration + 1].start_ns)
			iteration++;
		item->iteration = iteration;
		find_awaited(item, items);
		if (item->kind == ITEM_DEVICE)
			continue;
		if (item->is_worker)
			place_worker(item, (int32_t)i, &t, items);
		else
			place_main(item, (int32_t)i, &t, items);
	}
}

size_t replay_items_fitting(const struct recording *rec)
{
	size_t n = 0, n_items = 0, call = 0, event = 0;

	while (n < rec->n_iterations) {
		const int64_t end_ns = rec->iterations[n].end_ns;
		for (; call < rec->n_calls && rec->calls[call].start_ns < end_ns; call++)
			n_items++;
		for (; event < rec->n_events && rec->events[event].start_ns < end_ns; event++)
			n_items++;
		if (n > 1 && n_items > REPLAY_ITEMS_MAX)
			break;
		n++;
	}
	return n;
}

void replay_items_list(struct replay_items *items, const struct recording *rec)
{
	*items = (struct replay_items){.rec = rec};
	items->by_link = sorted(rec, compare_link);
	items->by_end = sorted(rec, compare_end);
	merge(items);
	find_queue_depth(items);
	place_all(items);
}

void replay_items_release(struct replay_items *items)
{
	free(items->items);
	free(items->by_link);
	free(items->by_end);
	*items = (struct replay_items){0};
}

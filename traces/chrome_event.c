/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/chrome_event.h"

#include "traces/recording.h"

static struct json_text *member(struct chrome_event *event, struct json_text key)
{
	struct {
		const char *name;
		struct json_text *text;
	} const members[] = {{"ph", &event->ph}, {"cat", &event->cat}, {"name", &event->name}, {"pid", &event->pid},
	    {"tid", &event->tid}, {"ts", &event->ts}, {"dur", &event->dur}, {"args", &event->args}};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_is(key, members[i].name))
			return members[i].text;
	return NULL;
}

bool chrome_event_parse(
    struct chrome_event *event, struct json_text text, bool (*wants)(const struct chrome_event *), bool *is_broken)
{
	struct json_walk walk;
	struct json_text key, value;
	const struct json_text none = {"", 0, 0};

	*event = (struct chrome_event){none, none, none, none, none, none, none, none};
	json_walk_init(&walk, text);
	while (json_walk_next(&walk, &key, &value)) {
		struct json_text *const to = member(event, key);
		if (!to)
			continue;
		*to = value;
		if ((to == &event->ph || to == &event->cat) && !wants(event))
			return false;
	}
	*is_broken = walk.is_broken;
	return !walk.is_broken && event->ph.n > 0;
}

bool chrome_event_times(const struct chrome_event *event, int64_t *start_ns, int64_t *duration_ns)
{
	return json_us_to_ns(start_ns, event->ts) && json_us_to_ns(duration_ns, event->dur);
}

int64_t chrome_event_id(struct json_text text)
{
	int64_t id;

	if (!json_integer(&id, text))
		id = (int64_t)recording_hash(0, text.at, text.n);
	return id < 0 ? -id : id;
}

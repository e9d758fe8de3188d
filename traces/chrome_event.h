/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * chrome_event: the usual members of one event of a Chrome trace, as text.
 */
#ifndef TRACES_CHROME_EVENT_H
#define TRACES_CHROME_EVENT_H

#include "traces/json_events.h"

/* Members that an event lacks are empty (n 0). */
struct chrome_event {
	struct json_text ph, cat, name, pid, tid, ts, dur, args;
};

/* Stops early, and returns false, at what `wants` does not want: it is asked once ph, and once ph and cat, are known. *is_broken is set
 * when the text is no object of members. */
bool chrome_event_parse(
    struct chrome_event *event, struct json_text text, bool (*wants)(const struct chrome_event *), bool *is_broken);
/* Start and duration in ns; false when they are missing or out of range. */
bool chrome_event_times(const struct chrome_event *event, int64_t *start_ns, int64_t *duration_ns);
/* A pid or tid as a number: of its digits, or a hash of other text. */
int64_t chrome_event_id(struct json_text text);

#endif

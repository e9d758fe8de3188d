/* SPDX-License-Identifier: GPL-3.0-or-later
 * Times of one line of a DeepSpeed log. Names: deepspeed/utils/timer.py, runtime/engine.py. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/units.h"
#include "traces/dslog.h"

static const struct {
	const char *name;
	enum dslog_timer timer;
	bool is_micro;
} timers[] = {
    {"fwd_microstep", DSLOG_FORWARD, true},
    {"forward_microstep", DSLOG_FORWARD, true},
    {"bwd_microstep", DSLOG_BACKWARD, true},
    {"backward_microstep", DSLOG_BACKWARD, true},
    {"step_microstep", DSLOG_STEP, true},
    {"fwd", DSLOG_FORWARD, false},
    {"forward", DSLOG_FORWARD, false},
    {"bwd", DSLOG_BACKWARD, false},
    {"backward", DSLOG_BACKWARD, false},
    {"step", DSLOG_STEP, false},
};

/* Milliseconds to ns; -1 for what is no time. */
static int64_t ms_ns(const char *text, const char **end)
{
	char *after;
	const double ms = strtod(text, &after);

	*end = after;
	return after != text && ms >= 0 && ms <= 1e3 * units_measured_s.max ? llround(ms * 1e6) : -1;
}

static void take(struct dslog_times *times, const char *name, size_t n, int64_t ns)
{
	for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
		if (strlen(timers[i].name) != n || memcmp(timers[i].name, name, n) != 0)
			continue;
		if (timers[i].is_micro)
			times->micro_ns[timers[i].timer] = ns;
		else
			times->total_ns[timers[i].timer] = ns;
		times->has_micro |= timers[i].is_micro;
		times->has_total |= !timers[i].is_micro;
	}
}

bool dslog_times_parse(struct dslog_times *times, const char *line)
{
	const char *at = strstr(line, "time (ms)");

	if (!at)
		return false;
	*times = (struct dslog_times){.micro_ns = {-1, -1, -1}, .total_ns = {-1, -1, -1}};
	for (at += strlen("time (ms)"); *at;) {
		while (*at == ' ' || *at == '|')
			at++;
		const char *const name = at;
		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		const size_t n = (size_t)(at - name);
		while (*at == ' ')
			at++;
		if (n == 0 || *at != ':')
			break;
		const int64_t ns = ms_ns(at + 1, &at);
		if (ns < 0)
			break;
		take(times, name, n, ns);
	}
	return true;
}

/* Days since a fixed day, of the proleptic calendar (Howard Hinnant's days_from_civil). */
static int64_t days(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	const int64_t era = year / 400, of_era = year - era * 400;
	const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
}

static bool digits(int64_t *value, const char *text, int n)
{
	*value = 0;
	for (int i = 0; i < n; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*value = 10 * *value + (text[i] - '0');
	}
	return true;
}

int64_t dslog_clock_ns(const char *line)
{
	for (const char *at = strchr(line, '['); at; at = strchr(at + 1, '[')) {
		int64_t year, month, day, hour, minute, second, milli = 0;
		if (strlen(at) < 20 || !digits(&year, at + 1, 4) || at[5] != '-' || !digits(&month, at + 6, 2) ||
		    at[8] != '-' || !digits(&day, at + 9, 2) || (at[11] != ' ' && at[11] != 'T') ||
		    !digits(&hour, at + 12, 2) || at[14] != ':' || !digits(&minute, at + 15, 2) || at[17] != ':' ||
		    !digits(&second, at + 18, 2))
			continue;
		if ((at[20] == ',' || at[20] == '.') && !digits(&milli, at + 21, 3))
			milli = 0;
		/* from the year 2000 on, so that nanoseconds fit */
		const int64_t since =
		    (days(year, month, day) - days(2000, 1, 1)) * 86400 + hour * 3600 + minute * 60 + second;
		return since >= 0 && since < 4000000000 ? since * 1000000000 + milli * 1000000 : -1;
	}
	return -1;
}

static int64_t number_after(const char *line, const char *word)
{
	const char *const at = strstr(line, word);
	char *end;

	if (!at)
		return -1;
	const long long number = strtoll(at + strlen(word), &end, 10);
	return end != at + strlen(word) && number >= 0 && number < 1000000000 ? number : -1;
}

int64_t dslog_rank(const char *line)
{
	static const char *const words[] = {"[Rank ", "rank=", "[default"};
	int64_t rank = -1;

	for (size_t i = 0; rank < 0 && i < sizeof(words) / sizeof(words[0]); i++)
		rank = number_after(line, words[i]);
	return rank;
}

int64_t dslog_elapsed_ns(const char *line)
{
	static const char word[] = "elapsed time per iteration (ms):";
	const char *const at = strstr(line, word), *end;

	return at ? ms_ns(at + sizeof(word) - 1, &end) : -1;
}

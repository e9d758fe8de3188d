/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/range_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct range_name {
	const char *text;
	enum rec_mark_kind kind;
};

/* Whole names, in any case. */
static const struct range_name names[] = {
    {"forward", REC_MARK_FORWARD},
    {"fwd", REC_MARK_FORWARD},
    {"## forward ##", REC_MARK_FORWARD},
    {"forward_step", REC_MARK_FORWARD},
    {"forward-compute", REC_MARK_FORWARD},
    {"DistributedDataParallel.forward", REC_MARK_FORWARD},
    {"DeepSpeedEngine.forward", REC_MARK_FORWARD},
    {"backward", REC_MARK_BACKWARD},
    {"bwd", REC_MARK_BACKWARD},
    {"## backward ##", REC_MARK_BACKWARD},
    {"backward_step", REC_MARK_BACKWARD},
    {"backward-compute", REC_MARK_BACKWARD},
    {"DeepSpeedEngine.backward", REC_MARK_BACKWARD},
    {"update", REC_MARK_UPDATE},
    {"step", REC_MARK_UPDATE},
    {"optimizer", REC_MARK_UPDATE},
    {"## optimizer ##", REC_MARK_UPDATE},
    {"optimizer_step", REC_MARK_UPDATE},
    {"optimizer step", REC_MARK_UPDATE},
    {"DeepSpeedEngine.step", REC_MARK_UPDATE},
    {"DeepSpeedEngine._take_model_step", REC_MARK_UPDATE},
};

/* Followed by nothing or by a number, parted by '#', ':', '_' or a space. */
static const char *const steps[] = {
    "ProfilerStep", "iteration", "iter", "train_step", "training_step", "train step", "step"};

static bool step_number(int64_t *number, const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && strchr("#:_ ", text[i]) && text[i])
		i++;
	if (i == n || n - i > 15)
		return false;
	for (*number = 0; i < n; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*number = *number * 10 + (text[i] - '0');
	}
	return true;
}

bool range_name_mark(enum rec_mark_kind *kind, int64_t *number, const char *name, size_t n)
{
	*number = 0;
	if (n > strlen("Optimizer.step#") && memcmp(name, "Optimizer.step#", strlen("Optimizer.step#")) == 0) {
		*kind = REC_MARK_OPTIMIZER;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].text) == n && strncasecmp(names[i].text, name, n) == 0) {
			*kind = names[i].kind;
			return true;
		}
	*kind = REC_MARK_ITERATION;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const size_t length = strlen(steps[i]);
		if (n >= length && strncasecmp(steps[i], name, length) == 0 &&
		    ((n == length && strcmp(steps[i], "step") != 0) || step_number(number, name + length, n - length)))
			return true;
	}
	return false;
}

static bool contains(const char *name, size_t n, const char *part)
{
	return memmem(name, n, part, strlen(part)) != NULL;
}

bool range_name_is_cpu_adam(const char *name, size_t n)
{
	return contains(name, n, "CPUAdam") || contains(name, n, "cpu_adam") || contains(name, n, "adam_update");
}

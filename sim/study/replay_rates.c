/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/replay_rates.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/arena.h"

enum { SAMPLES_LEAST = 4 };

void replay_rates_init(struct replay_rates *rates, bool by_iteration)
{
	*rates = (struct replay_rates){.by_iteration = by_iteration};
}

void replay_rates_release(struct replay_rates *rates)
{
	free(rates->classes);
	*rates = (struct replay_rates){0};
}

/* Mixes three numbers into one that is never 0 (the finalizer of MurmurHash3). */
uint64_t replay_key(unsigned kind, uint32_t a, uint32_t b)
{
	uint64_t key = ((uint64_t)a << 32 | b) + kind * 0x9e3779b97f4a7c15ull;

	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
	return (key ^ key >> 33) | 1;
}

static struct replay_class *slot(const struct replay_rates *rates, uint64_t key)
{
	size_t i = (size_t)(key % rates->capacity);

	while (rates->classes[i].key != 0 && rates->classes[i].key != key)
		i = (i + 1) % rates->capacity;
	return &rates->classes[i];
}

static void grow(struct replay_rates *rates)
{
	const struct replay_rates old = *rates;

	rates->capacity = old.capacity ? 2 * old.capacity : 1024;
	rates->classes = xmalloc(rates->capacity, sizeof(*rates->classes));
	memset(rates->classes, 0, rates->capacity * sizeof(*rates->classes));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.classes[i].key != 0)
			*slot(rates, old.classes[i].key) = old.classes[i];
	free(old.classes);
}

void replay_rates_add(struct replay_rates *rates, uint64_t key, double amount, int64_t ns, size_t iteration)
{
	if (2 * rates->n >= rates->capacity)
		grow(rates);
	struct replay_class *const class = slot(rates, key);
	const bool is_fitted = rates->by_iteration ? iteration % 2 == 0 : class->n_seen % 2 == 0;

	rates->n += class->key == 0;
	class->key = key;
	class->n_seen++;
	if (!is_fitted)
		return;
	class->amount += amount;
	class->ns += (double)ns;
	class->n_fitted++;
}

/* In one iteration a class of few samples says little of the next: those few are often a first call, which loads code, and another. */
static const struct replay_class *usable(const struct replay_rates *rates, uint64_t key)
{
	const struct replay_class *const class = key != 0 && rates->capacity > 0 ? slot(rates, key) : NULL;

	if (!class || class->key == 0 || !(class->amount > 0))
		return NULL;
	return rates->by_iteration || class->n_seen >= SAMPLES_LEAST ? class : NULL;
}

double replay_rates_predict_ns(
    struct replay_rates *rates, uint64_t key, uint64_t coarse_key, double amount, int64_t recorded_ns)
{
	const struct replay_class *class = usable(rates, key);
	double ns = (double)recorded_ns;

	if (!class)
		class = usable(rates, coarse_key);
	if (class)
		ns = class->ns / class->amount * amount;
	else
		rates->single_ns += ns;
	rates->predicted_ns += ns;
	return ns;
}

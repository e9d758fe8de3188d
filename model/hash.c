/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/hash.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

unsigned long long hash_number(unsigned long long hash, double value)
{
	const double normal = value == 0 ? 0 : isnan(value) ? (double)NAN : value;
	uint64_t bits;

	memcpy(&bits, &normal, sizeof(bits));
	for (int i = 0; i < 8; i++, bits >>= 8) /* least significant first, whatever the machine */
		hash = (hash ^ (bits & 0xff)) * 1099511628211ull;
	return hash;
}

unsigned long long hash_numbers(unsigned long long hash, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = hash_number(hash, values[i]);
	return hash;
}

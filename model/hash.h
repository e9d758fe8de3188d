/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hash: FNV-1a, 64 bits, over numbers: which contents a result came from. Not for names or prose.
 */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

#include <stddef.h>

#define HASH_START 14695981039346656037ull

/* Mixes one number in; 0 and -0 are the same, and all NaNs. */
unsigned long long hash_number(unsigned long long hash, double value);
unsigned long long hash_numbers(unsigned long long hash, const double *values, size_t n);

#endif

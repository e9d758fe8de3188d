/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * arena: memory that dies together. A run owns one arena; its schedule, timeline and metrics live in it.
 *
 * Invariant: every pointer handed out is aligned to 16 bytes and valid until arena_reset or arena_release.
 * Out of memory prints and exits with STATUS_ENV: callers never test for it.
 */
#ifndef MODEL_BASE_ARENA_H
#define MODEL_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *first; /* NULL before the first use: `struct arena a = {0};` is a valid empty arena */
	struct arena_chunk *current;
};

/* Uninitialised memory for n objects of size bytes (n * size checked for overflow). */
void *arena_alloc(struct arena *arena, size_t n, size_t size) __attribute__((malloc));
/* The same, zeroed. */
void *arena_zalloc(struct arena *arena, size_t n, size_t size) __attribute__((malloc));
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Forgets all contents and keeps the chunks for the next run. */
void arena_reset(struct arena *arena);
/* Returns all memory; the arena is valid and empty afterwards. */
void arena_release(struct arena *arena);

/* malloc / realloc that print and exit when out of memory. */
void *xmalloc(size_t n, size_t size) __attribute__((malloc));
void *xrealloc(void *old, size_t n, size_t size);
char *xstrdup(const char *text);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/err.h"

/* Under AddressSanitizer the unused part of a chunk is poisoned and a gap lies between allocations, so that overruns
 * and uses after arena_reset are seen as they would be with malloc. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
enum { ARENA_GAP = 0 };
#endif

enum { ARENA_ALIGN = 16, CHUNK_MIN_BYTES = 64 * 1024, CHUNK_MAX_BYTES = 16 * 1024 * 1024 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t capacity, used;
	char data[] __attribute__((aligned(ARENA_ALIGN)));
};

static void __attribute__((noreturn)) out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "out of memory: %zu objects of %zu bytes\n", n, size);
	_exit(STATUS_ENV); /* no fault of the program: no core file, and nothing half-written is flushed */
}

/* n * size, at least 1; ends the program when it cannot be addressed (with room for alignment and a chunk's head). */
static size_t total_bytes(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX - 4096)
		out_of_memory(n, size);
	return bytes ? bytes : 1;
}

void *xmalloc(size_t n, size_t size)
{
	void *memory = malloc(total_bytes(n, size));

	if (!memory)
		out_of_memory(n, size);
	return memory;
}

void *xrealloc(void *old, size_t n, size_t size)
{
	void *memory = realloc(old, total_bytes(n, size));

	if (!memory)
		out_of_memory(n, size);
	return memory;
}

char *xstrdup(const char *text)
{
	const size_t n = strlen(text) + 1;

	return memcpy(xmalloc(n, 1), text, n);
}

static struct arena_chunk *chunk_new(size_t capacity, struct arena_chunk *next)
{
	struct arena_chunk *chunk = xmalloc(1, sizeof(*chunk) + capacity);

	*chunk = (struct arena_chunk){.next = next, .capacity = capacity};
	ASAN_POISON_MEMORY_REGION(chunk->data, chunk->capacity);
	return chunk;
}

/* Makes `current` a chunk with room: the next kept one if it is large enough, else a new one before it. */
static void chunk_advance(struct arena *arena, size_t bytes)
{
	struct arena_chunk *const old = arena->current;
	struct arena_chunk *next = old ? old->next : arena->first;

	if (!next || next->capacity < bytes) {
		size_t capacity = old ? 2 * old->capacity : CHUNK_MIN_BYTES;
		if (capacity > CHUNK_MAX_BYTES)
			capacity = CHUNK_MAX_BYTES;
		next = chunk_new(capacity < bytes ? bytes : capacity, next);
		if (old)
			old->next = next;
		else
			arena->first = next;
	}
	next->used = 0;
	arena->current = next;
}

void *arena_alloc(struct arena *arena, size_t n, size_t size)
{
	const size_t wanted = total_bytes(n, size);
	const size_t bytes = ((wanted + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1)) + ARENA_GAP;

	if (!arena->current || arena->current->capacity - arena->current->used < bytes)
		chunk_advance(arena, bytes);
	struct arena_chunk *const chunk = arena->current;
	void *const memory = chunk->data + chunk->used;
	chunk->used += bytes;
	ASAN_UNPOISON_MEMORY_REGION(memory, wanted);
	return memory;
}

void *arena_zalloc(struct arena *arena, size_t n, size_t size)
{
	return memset(arena_alloc(arena, n, size), 0, n * size);
}

char *arena_strdup(struct arena *arena, const char *text)
{
	const size_t n = strlen(text) + 1;

	return memcpy(arena_alloc(arena, n, 1), text, n);
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);
	const int length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (length < 0)
		out_of_memory(1, 0);
	char *const text = arena_alloc(arena, (size_t)length + 1, 1);
	vsnprintf(text, (size_t)length + 1, fmt, again);
	va_end(again);
	return text;
}

void arena_reset(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->first; chunk; chunk = chunk->next) {
		chunk->used = 0;
		ASAN_POISON_MEMORY_REGION(chunk->data, chunk->capacity);
	}
	arena->current = NULL;
}

void arena_release(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->first, *next; chunk; chunk = next) {
		next = chunk->next;
		ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->capacity);
		free(chunk);
	}
	*arena = (struct arena){0};
}

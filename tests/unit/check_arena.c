/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "model/base/err.h"
#include "tests/unit/test_util.h"

Suite *arena_suite(void);

static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 65536, 70000, 5000000, 20000000};

START_TEST(allocations_are_aligned_and_separate)
{
	struct arena arena = {0};
	unsigned char *memory[20];

	for (size_t i = 0; i < 20; i++) {
		memory[i] = arena_alloc(&arena, sizes[_i], 1);
		ck_assert_uint_eq((uintptr_t)memory[i] % 16, 0);
		memset(memory[i], (int)i, sizes[_i]);
	}
	for (size_t i = 0; i < 20 && sizes[_i] > 0; i++) {
		ck_assert_uint_eq(memory[i][0], i);
		ck_assert_uint_eq(memory[i][sizes[_i] - 1], i);
	}
	arena_release(&arena);
}
END_TEST

START_TEST(zalloc_is_zero_after_reuse)
{
	struct arena arena = {0};

	memset(arena_alloc(&arena, 1000, 1), 0xff, 1000);
	arena_reset(&arena);
	const unsigned char *const memory = arena_zalloc(&arena, 1000, 1);
	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(memory[i], 0);
	arena_release(&arena);
}
END_TEST

START_TEST(texts)
{
	struct arena arena = {0};

	ck_assert_str_eq(arena_strdup(&arena, "abc"), "abc");
	ck_assert_str_eq(arena_strdup(&arena, ""), "");
	ck_assert_str_eq(arena_printf(&arena, "%s-%d", "k", 7), "k-7");
	ck_assert_uint_eq(strlen(arena_printf(&arena, "%0100000d", 1)), 100000);
	arena_release(&arena);
}
END_TEST

START_TEST(reset_keeps_chunks)
{
	struct arena arena = {0};
	const struct arena_chunk *first;

	void *const before = arena_alloc(&arena, 10, 1);
	arena_alloc(&arena, 1, 3000000);
	first = arena.first;
	arena_reset(&arena);
	ck_assert_ptr_eq(arena_alloc(&arena, 10, 1), before);
	arena_alloc(&arena, 1, 3000000);
	ck_assert_ptr_eq(arena.first, first);
	arena_release(&arena);
}
END_TEST

START_TEST(released_arena_is_usable)
{
	struct arena arena = {0};

	arena_release(&arena);
	arena_reset(&arena);
	ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1));
	arena_release(&arena);
	ck_assert_ptr_null(arena.first);
	ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1));
	arena_release(&arena);
}
END_TEST

START_TEST(too_large_exits)
{
	struct arena arena = {0};

	freopen("/dev/null", "w", stderr);
	arena_alloc(&arena, SIZE_MAX / 2, 4);
}
END_TEST

START_TEST(too_large_for_malloc_exits)
{
	freopen("/dev/null", "w", stderr);
	xmalloc(SIZE_MAX / 2 + 1, 2);
}
END_TEST

START_TEST(xrealloc_keeps_contents)
{
	char *text = xstrdup("abc");

	text = xrealloc(text, 100000, 1);
	ck_assert_str_eq(text, "abc");
	free(text);
	free(xmalloc(0, 8));
}
END_TEST

Suite *arena_suite(void)
{
	Suite *const suite = suite_create("arena");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits"), *const errors = tcase_create("errors");

	tcase_add_loop_test(core, allocations_are_aligned_and_separate, 0, (int)N_ELEMENTS(sizes));
	tcase_add_test(core, zalloc_is_zero_after_reuse);
	tcase_add_test(core, texts);
	tcase_add_test(core, xrealloc_keeps_contents);
	tcase_add_test(limits, reset_keeps_chunks);
	tcase_add_test(limits, released_arena_is_usable);
	tcase_add_exit_test(errors, too_large_exits, STATUS_ENV);
	tcase_add_exit_test(errors, too_large_for_malloc_exits, STATUS_ENV);
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, errors);
	return suite;
}

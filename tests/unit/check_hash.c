/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/hash.h"

#include "tests/unit/test_util.h"

START_TEST(known_values)
{
	/* FNV-1a of eight zero bytes, and of the bytes of 1.0, least significant first (computed apart) */
	ck_assert(hash_number(HASH_START, 0) == 0xa8c7f832281a39c5ull);
	ck_assert(hash_number(HASH_START, 1) == 0xaab1693229ba1db8ull);
}
END_TEST

START_TEST(equal_numbers_hash_alike)
{
	ck_assert(hash_number(HASH_START, -0.0) == hash_number(HASH_START, 0.0));
	ck_assert(hash_number(HASH_START, -NAN) == hash_number(HASH_START, NAN));
	ck_assert(hash_number(HASH_START, 1) != hash_number(HASH_START, nextafter(1, 2)));
}
END_TEST

START_TEST(order_and_count_matter)
{
	const double forward[] = {1, 2}, backward[] = {2, 1}, longer[] = {1, 2, 0};
	const unsigned long long hash = hash_numbers(HASH_START, forward, 2);

	ck_assert(hash != hash_numbers(HASH_START, backward, 2));
	ck_assert(hash != hash_numbers(HASH_START, longer, 3));
	ck_assert(hash == hash_number(hash_number(HASH_START, 1), 2));
	ck_assert(hash_numbers(HASH_START, forward, 0) == HASH_START);
}
END_TEST

Suite *hash_suite(void);
Suite *hash_suite(void)
{
	Suite *const suite = suite_create("hash");
	TCase *const core = tcase_create("core");

	tcase_add_test(core, known_values);
	tcase_add_test(core, equal_numbers_hash_alike);
	tcase_add_test(core, order_and_count_matter);
	suite_add_tcase(suite, core);
	return suite;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/units.h"

#include "tests/unit/test_util.h"

Suite *units_suite(void);

static const struct {
	enum unit unit;
	const char *text;
	double want;
} parsed[] = {
    {UNIT_NONE, "0", 0}, {UNIT_NONE, "1e8", 1e8}, {UNIT_NONE, "100M", 1e8}, {UNIT_NONE, "2.5k", 2500},
    {UNIT_NONE, ".5", 0.5}, {UNIT_NONE, "5.", 5}, {UNIT_NONE, "1E+3", 1000}, {UNIT_NONE, "1e3k", 1e6},
    {UNIT_NONE, "2.3G", 2.3e9}, {UNIT_NONE, "3T", 3e12}, {UNIT_NONE, "4P", 4e15}, {UNIT_NONE, "9007199254740992", 0x1p53},
    {UNIT_BYTES, "512", 512}, {UNIT_BYTES, "512B", 512}, {UNIT_BYTES, "64kB", 64000}, {UNIT_BYTES, "64KB", 64000},
    {UNIT_BYTES, "80GB", 80e9}, {UNIT_BYTES, "80 GB", 80e9}, {UNIT_BYTES, "80G", 80e9},
    {UNIT_BYTES, "80GiB", 80 * 0x1p30}, {UNIT_BYTES, "1.5KiB", 1536}, {UNIT_BYTES, "2MiB", 0x1p21},
    {UNIT_BYTES, "1TiB", 0x1p40}, {UNIT_BYTES, "0.1GB", 1e8},
    {UNIT_BYTES_PER_S, "55GB/s", 55e9}, {UNIT_BYTES_PER_S, "55GB", 55e9}, {UNIT_BYTES_PER_S, "55G/s", 55e9},
    {UNIT_BYTES_PER_S, "51GiB/s", 51 * 0x1p30}, {UNIT_BYTES_PER_S, "55e9", 55e9},
    {UNIT_SECONDS, "1.5", 1.5}, {UNIT_SECONDS, "1.5s", 1.5}, {UNIT_SECONDS, "20ms", 0.02}, {UNIT_SECONDS, "3us", 3e-6},
    {UNIT_SECONDS, "10ns", 1e-8}, {UNIT_SECONDS, "1e3us", 1e-3},
    {UNIT_PARAMS, "100M", 1e8}, {UNIT_PARAMS_PER_S, "2G/s", 2e9}, {UNIT_PARAMS_PER_S, "2e9", 2e9},
    {UNIT_FLOP, "1TFLOP", 1e12}, {UNIT_FLOP_PER_S, "989TFLOP/s", 989e12}, {UNIT_FLOP_PER_S, "1P", 1e15},
    {UNIT_FRAC, "0.5", 0.5}, {UNIT_FRAC, "50%", 0.5}, {UNIT_FRAC, "12.5%", 0.125}, {UNIT_FRAC, "1", 1},
    {UNIT_WATT, "700W", 700}, {UNIT_WATT, "0.7kW", 700},
};

START_TEST(parse)
{
	struct err err = {0};
	double got = -1;

	ck_assert_msg(units_parse(&got, parsed[_i].unit, parsed[_i].text, &err) == 0, "%s", err.text);
	ck_assert_msg(got == parsed[_i].want, "%s: %.17g, want %.17g", parsed[_i].text, got, parsed[_i].want);
}
END_TEST

static const struct {
	enum unit unit;
	const char *text;
} refused[] = {
    {UNIT_NONE, ""}, {UNIT_NONE, " 1"}, {UNIT_NONE, "1 "}, {UNIT_NONE, "-1"}, {UNIT_NONE, "+1"}, {UNIT_NONE, "1x"},
    {UNIT_NONE, "nan"}, {UNIT_NONE, "inf"}, {UNIT_NONE, "0x10"}, {UNIT_NONE, "1e"}, {UNIT_NONE, "."}, {UNIT_NONE, "1e999"},
    {UNIT_NONE, "1Mk"}, {UNIT_NONE, "1GB"}, {UNIT_NONE, "5%"}, {UNIT_NONE, "1,5"}, {UNIT_NONE, "9e307T"},
    {UNIT_BYTES, "80Gi"}, {UNIT_BYTES, "80gb"}, {UNIT_BYTES, "80GB/s"}, {UNIT_BYTES, "80GBs"}, {UNIT_BYTES, "80GiiB"},
    {UNIT_BYTES_PER_S, "55GB/ss"}, {UNIT_BYTES_PER_S, "55Gbit/s"},
    {UNIT_SECONDS, "1m"}, {UNIT_SECONDS, "1min"}, {UNIT_SECONDS, "1h"}, {UNIT_SECONDS, "1kB"},
    {UNIT_FRAC, "50 percent"}, {UNIT_FRAC, "%"}, {UNIT_WATT, "700V"},
};

START_TEST(refuse)
{
	struct err err = {0};
	double got = 42;

	ck_assert_int_eq(units_parse(&got, refused[_i].unit, refused[_i].text, &err), STATUS_USAGE);
	ck_assert_double_eq(got, 42);
	assert_has(err.text, refused[_i].text);
	assert_has(err.text, " such as ");
}
END_TEST

START_TEST(long_numbers_are_refused)
{
	struct err err = {0};
	char text[500];
	double got;

	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(units_parse(&got, UNIT_NONE, text, &err), STATUS_USAGE);
}
END_TEST

static const struct {
	enum unit unit;
	double value;
	const char *want;
} printed[] = {
    {UNIT_SECONDS, 1.2981234, "1.30 s"}, {UNIT_SECONDS, 0.85, "850 ms"}, {UNIT_SECONDS, 0.9996, "1.00 s"},
    {UNIT_SECONDS, 12.345, "12.3 s"}, {UNIT_SECONDS, 1234.5, "1234 s"}, {UNIT_SECONDS, 3e-6, "3.00 us"},
    {UNIT_SECONDS, 4e-9, "4.00 ns"}, {UNIT_SECONDS, 1e-13, "0.0001 ns"}, {UNIT_SECONDS, 0, "0 s"},
    {UNIT_SECONDS, -0.5, "-500 ms"}, {UNIT_SECONDS, 9.999, "10.0 s"},
    {UNIT_BYTES_PER_S, 55e9, "55.0 GB/s"}, {UNIT_BYTES_PER_S, 4.8e12, "4.80 TB/s"},
    {UNIT_BYTES, 80 * 0x1p30, "80.0 GiB"}, {UNIT_BYTES, 512, "512 B"}, {UNIT_BYTES, 7, "7 B"},
    {UNIT_BYTES, 1023.9 * 0x1p20, "1.00 GiB"}, {UNIT_BYTES, 0, "0 B"},
    {UNIT_PARAMS, 1e8, "100 M"}, {UNIT_PARAMS, 6.7e9, "6.70 G"}, {UNIT_PARAMS, 12, "12"}, {UNIT_PARAMS_PER_S, 2e9, "2.00 G/s"},
    {UNIT_NONE, 2048, "2048"}, {UNIT_NONE, 0.125, "0.125"}, {UNIT_NONE, 1e8, "100 M"}, {UNIT_NONE, 0, "0"},
    {UNIT_FLOP_PER_S, 989e12, "989 TFLOP/s"}, {UNIT_FLOP, 1.5e15, "1.50 PFLOP"},
    {UNIT_FRAC, 0.125, "12.5 %"}, {UNIT_FRAC, 1, "100 %"}, {UNIT_FRAC, 0, "0 %"}, {UNIT_WATT, 700, "700 W"},
    {UNIT_SECONDS, NAN, "-"}, {UNIT_SECONDS, INFINITY, "inf"}, {UNIT_SECONDS, 1e300, "1e+300 s"},
};

START_TEST(print)
{
	char text[UNITS_TEXT_MAX];

	ck_assert_str_eq(units_print(text, printed[_i].unit, printed[_i].value), printed[_i].want);
}
END_TEST

Suite *units_suite(void)
{
	Suite *const suite = suite_create("units");
	TCase *const core = tcase_create("core"), *const limits = tcase_create("limits"), *const errors = tcase_create("errors");

	tcase_add_loop_test(core, parse, 0, (int)N_ELEMENTS(parsed));
	tcase_add_loop_test(core, print, 0, (int)N_ELEMENTS(printed));
	tcase_add_test(limits, long_numbers_are_refused);
	tcase_add_loop_test(errors, refuse, 0, (int)N_ELEMENTS(refused));
	suite_add_tcase(suite, core);
	suite_add_tcase(suite, limits);
	suite_add_tcase(suite, errors);
	return suite;
}

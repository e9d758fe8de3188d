/* SPDX-License-Identifier: GPL-3.0-or-later
 * Runs all suites, or those named on the command line. suite_list.inc is written by make from check_*.c. */
#include <check.h>
#include <gsl/gsl_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITE(name) Suite *name##_suite(void);
#include "suite_list.inc"
#undef SUITE

struct suite {
	const char *name;
	Suite *(*make)(void);
};

static const struct suite suites[] = {
#define SUITE(name) {#name, name##_suite},
#include "suite_list.inc"
#undef SUITE
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	SRunner *const runner = srunner_create(NULL);

	gsl_set_error_handler_off();
	setenv("CK_DEFAULT_TIMEOUT", "120", 0); /* sanitizers are slow; the default is 4 s */
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		if (is_wanted(suites[i].name, argc, argv))
			srunner_add_suite(runner, suites[i].make());
	srunner_run_all(runner, CK_ENV);
	const int n_run = srunner_ntests_run(runner);
	const int n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	printf("unit: %d passed, %d failed, 0 skipped\n", n_run - n_failed, n_failed);
	return n_failed || n_run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

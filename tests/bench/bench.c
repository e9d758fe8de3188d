/* SPDX-License-Identifier: GPL-3.0-or-later
 * bench [PROFILE]: speeds and memory as JSON, on h100-4x when no profile is named. Rates are medians of nine repeats, of CPU time of
 * one thread unless the key says threads. bench --only-simulate N: N simulations and nothing else, for counting instructions. */
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench_simulate.h"
#include "tests/bench/bench_sweep.h"

int main(int argc, char **argv)
{
	const bool is_only = argc == 3 && strcmp(argv[1], "--only-simulate") == 0;
	struct arena arena = {0};
	struct hwprofile *const hw = arena_alloc(&arena, 1, sizeof(*hw));
	struct err err;
	struct jsonw w;

	setlocale(LC_ALL, "C");
	gsl_set_error_handler_off();
	if (hwprofile_load(hw, argc == 2 ? argv[1] : "hwprofiles/h100-4x.json", &arena, &err)) {
		fprintf(stderr, "bench: %s\n", err.text);
		return err.code;
	}
	if (is_only) {
		bench_only_simulate(hw, strtoul(argv[2], NULL, 10));
		arena_release(&arena);
		return EXIT_SUCCESS;
	}
	jsonw_init(&w, stdout, true);
	jsonw_object(&w);
	jsonw_member_string(&w, "schema", "dos-bench/1");
	jsonw_member_string(&w, "hw", hw->name);
	jsonw_member_integer(&w, "repeats", SPREAD_REPEATS);
	bench_memory(&w, hw);
	bench_simulate(&w, hw);
	bench_points(&w, hw);
	bench_stored(&w, hw);
	bench_growth(&w, hw);
	jsonw_end_object(&w);
	putc('\n', stdout);
	arena_release(&arena);
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results: the version of what the program computes. It is part of the key of every stored trial.
 *
 * Whatever changes a result (equations, engine, schedules, memory) raises RESULTS_VERSION. RESULTS_DIGEST is the hash of a
 * fixed set of trials; a test compares it, so that no change of results goes unnoticed.
 */
#ifndef SIM_STUDY_RESULTS_H
#define SIM_STUDY_RESULTS_H

enum { RESULTS_VERSION = 5 };
#define RESULTS_DIGEST 0xeac9d93564e01767ull

#endif

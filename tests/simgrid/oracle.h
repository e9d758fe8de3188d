/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * oracle: flows over shared links, by SimGrid's network model. Plain C on the outside.
 *
 * A flow moves its bytes at no more than its cap, through those of the shared links that it uses, once the flows it follows have ended.
 * Links share by max-min fairness of rates.
 */
#ifndef TESTS_SIMGRID_ORACLE_H
#define TESTS_SIMGRID_ORACLE_H

#include <stddef.h>

enum { FLOW_FOLLOWS = 2, FLOW_LINKS = 3 };

struct flow {
	double bytes; /* an integer */
	double cap_Bps;
	int links[FLOW_LINKS]; /* shared links, -1: none */
	long after[FLOW_FOLLOWS]; /* earlier flows, -1: none */
};

#ifdef __cplusplus
extern "C" {
#endif
/* When each flow ends. A process can call it once. */
void oracle_run(double *end_s, const struct flow *flows, size_t n_flows, const double *link_Bps, size_t n_links);
#ifdef __cplusplus
}
#endif

#endif

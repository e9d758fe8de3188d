/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json_relax: makes JSON of what people write: comments and commas before a closing bracket become spaces.
 *
 * Invariant: no byte moves; line ends stay; strings are not touched. So offsets, lines and columns hold in the original.
 */
#ifndef MODEL_BASE_JSON_RELAX_H
#define MODEL_BASE_JSON_RELAX_H

#include <stddef.h>

struct json_relaxed {
	size_t n_comments, n_commas;
	size_t comment_line, comma_line; /* of the first, from 1; 0: none */
};

/* Of n_bytes at text, in place. Comments: //, # and C's. One that does not end stays, for the reader to refuse. */
void json_relax(struct json_relaxed *found, char *text, size_t n_bytes);

#endif

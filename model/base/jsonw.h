/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonw: a small JSON writer onto a FILE. Shared by dos and dos-probe (which links no JSON library).
 *
 * Invariant: commas, nesting and escapes are right by construction; doubles print as the shortest of %.15g..%.17g that
 * reads back the same, non-finite ones as null. Write errors stay in the FILE (check ferror at the end).
 */
#ifndef MODEL_BASE_JSONW_H
#define MODEL_BASE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { JSONW_DEPTH_MAX = 32 };

struct jsonw {
	FILE *out; /* borrowed */
	bool pretty; /* newline and two spaces a level; else compact */
	int depth;
	bool has_items[JSONW_DEPTH_MAX];
	bool inline_level[JSONW_DEPTH_MAX]; /* level printed on one line even when pretty */
	bool after_key;
};

void jsonw_init(struct jsonw *w, FILE *out, bool pretty);
void jsonw_object(struct jsonw *w); /* opens {  */
void jsonw_array(struct jsonw *w); /* opens [ */
void jsonw_inline_object(struct jsonw *w); /* {} and [] kept on one line, for rows */
void jsonw_inline_array(struct jsonw *w);
void jsonw_end_object(struct jsonw *w);
void jsonw_end_array(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);
void jsonw_string(struct jsonw *w, const char *text); /* NULL prints null */
void jsonw_number(struct jsonw *w, double value);
void jsonw_integer(struct jsonw *w, long long value);
void jsonw_bool(struct jsonw *w, bool value);
void jsonw_null(struct jsonw *w);
/* key and value in one call */
void jsonw_member_string(struct jsonw *w, const char *key, const char *text);
void jsonw_member_number(struct jsonw *w, const char *key, double value);
void jsonw_member_integer(struct jsonw *w, const char *key, long long value);
void jsonw_member_bool(struct jsonw *w, const char *key, bool value);

/* Shortest text that reads back the same double; also used for CSV. Returns text. */
char *jsonw_double_text(char text[32], double value);

#endif

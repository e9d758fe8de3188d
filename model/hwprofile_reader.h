/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hwprofile_reader: what the two files that read profiles share (hwprofile_read.c, hwprofile_curves.c); nobody else includes
 * it. Every function fails with a message that names the file and the place in it (STATUS_INPUT).
 */
#ifndef MODEL_HWPROFILE_READER_H
#define MODEL_HWPROFILE_READER_H

#include "model/base/json.h"
#include "model/hwprofile.h"

/* What every reading step needs; all borrowed. */
struct reader {
	struct hwprofile *hw;
	const struct json_doc *doc;
	struct arena *arena;
	struct err *err;
};

/* Member `key` of `parent`, copied into the arena; "" when absent. */
int reader_optional_text(const char **text, const struct reader *r, const json_node *parent, const char *key) MUST_CHECK;
/* A required text, into a member of fixed size. */
int reader_short_text(char *to, size_t size, const struct reader *r, const json_node *parent, const char *key) MUST_CHECK;
/* "kind" of a value or curve. */
int reader_kind(enum hw_kind *kind, const struct reader *r, const json_node *node) MUST_CHECK;
/* Why an incomplete profile lacks what is required; empty of a complete one. */
const char *reader_why_missing(const struct reader *r);
/* n entries "not in the file". */
struct hw_meta *reader_new_meta(const struct reader *r, size_t n);

/* Sections of the file. */
int reader_curves(const struct reader *r, const json_node *root) MUST_CHECK;
int reader_corun(const struct reader *r, const json_node *root) MUST_CHECK;

#endif

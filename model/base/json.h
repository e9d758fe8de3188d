/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * json: a strict reader over cJSON. Whole file, no trailing text, no duplicate keys, no non-finite numbers, case-sensitive
 * keys, "01" refused, nesting limited by cJSON. Errors name the file and the path in it: `a.json: /node/gpus: ...`
 * (STATUS_INPUT); where the text is no JSON, `a.json:LINE:COLUMN: ...`. Not for large traces (they stream).
 *
 * Ownership: nodes and strings are borrowed from the document and die with json_close.
 */
#ifndef MODEL_BASE_JSON_H
#define MODEL_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "model/base/err.h"

struct json_doc;
struct cJSON;
typedef struct cJSON json_node; /* the one typedef: hides that nodes are cJSON's */

/* path "-" reads standard input. Refuses what file_text.h refuses. */
int json_open(struct json_doc **doc, const char *path, struct err *err) MUST_CHECK;
int json_parse(struct json_doc **doc, const char *name, const char *text, size_t n_bytes, struct err *err) MUST_CHECK;
void json_close(struct json_doc *doc);
const json_node *json_root(const struct json_doc *doc);
const char *json_name(const struct json_doc *doc);

/* Child by key of an object / by index of an array; NULL when absent (or when node is NULL or of another type). O(children):
 * walk long arrays with json_first and json_next. */
const json_node *json_get(const json_node *node, const char *key);
const json_node *json_at(const json_node *node, size_t index);
size_t json_count(const json_node *node); /* members or elements, 0 for scalars */
const char *json_key(const json_node *node); /* key of a member, NULL for elements */
const json_node *json_first(const json_node *node); /* iteration: first child, then json_next */
const json_node *json_next(const json_node *node);
bool json_is_object(const json_node *node);
bool json_is_array(const json_node *node);
bool json_is_string(const json_node *node);
bool json_is_number(const json_node *node);
bool json_is_bool(const json_node *node);
bool json_is_true(const json_node *node);
bool json_is_null(const json_node *node);

/* Values with their checks; node may be NULL, which is "missing": `what` names it then ("gpus") and `parent` where. */
int json_number(double *value, const struct json_doc *doc, const json_node *parent, const char *key, double min, double max,
    struct err *err) MUST_CHECK;
int json_text(const char **text, const struct json_doc *doc, const json_node *parent, const char *key, struct err *err) MUST_CHECK;
int json_flag(bool *flag, const struct json_doc *doc, const json_node *parent, const char *key, struct err *err) MUST_CHECK;
/* A required object or array member. */
int json_object(const json_node **node, const struct json_doc *doc, const json_node *parent, const char *key,
    struct err *err) MUST_CHECK;
int json_array(const json_node **node, const struct json_doc *doc, const json_node *parent, const char *key,
    struct err *err) MUST_CHECK;

/* The value of a node already at hand, with its checks (elements of arrays). */
int json_number_of(double *value, const struct json_doc *doc, const json_node *node, double min, double max, struct err *err)
    MUST_CHECK;
int json_text_of(const char **text, const struct json_doc *doc, const json_node *node, struct err *err) MUST_CHECK;

/* Refuses members of `object` that are not in keys (NULL-terminated), naming the nearest accepted key; "extra" is always
 * accepted. */
int json_only_keys(const struct json_doc *doc, const json_node *object, const char *const keys[], struct err *err) MUST_CHECK;

/* Fails at a node: "file: /path: message" (STATUS_INPUT); returns the code. */
int json_fail(const struct json_doc *doc, const json_node *node, struct err *err, const char *fmt, ...) PRINTF_LIKE(4, 5);

#endif

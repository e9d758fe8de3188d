/* SPDX-License-Identifier: GPL-3.0-or-later
 * The strict JSON reader: what it accepts, its own reading functions and a message at every node survive. */
#include <stdint.h>

#include "model/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void visit(const struct json_doc *doc, const json_node *node)
{
	static const char *const keys[] = {"a", "h2d_Bps", NULL};
	struct err err = {0};
	double number;
	int rc = json_number_of(&number, doc, node, 0, 1e9, &err);

	if (json_is_object(node))
		rc = json_only_keys(doc, node, keys, &err);
	(void)rc;
	for (const json_node *child = json_first(node); child; child = json_next(child))
		visit(doc, child);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct json_doc *doc;
	struct err err = {0};

	if (n_bytes > 4096 || json_parse(&doc, "fuzz.json", (const char *)data, n_bytes, &err))
		return 0;
	visit(doc, json_root(doc));
	json_close(doc);
	return 0;
}

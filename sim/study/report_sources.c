/* SPDX-License-Identifier: GPL-3.0-or-later
 * The last section of a report: what its numbers mean, and where they come from. */
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "config.h"
#include "sim/study/report_parts.h"
#include "sim/study/results.h"
#include "sim/study/store_open.h"

/* ---- distinct texts of the runs, in order of appearance */

static bool has(const struct opt_list *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static struct opt_list distinct(const struct report *r, size_t offset)
{
	enum { DISTINCT_MAX = 100 };
	struct opt_list list = {0};

	for (size_t i = 0; i < r->rows.n && list.n < DISTINCT_MAX; i++) {
		const char *const text = *(const char *const *)((const char *)&r->rows.rows[i] + offset);
		if (!has(&list, text))
			opt_list_add(&list, text, r->arena);
	}
	return list;
}

/* ---- assumptions */

static void write_contention(const struct report *r, const char *name)
{
	const struct sharing *const sharing = sharing_find(name);

	html_printf(r->out, "<li>Contention <code>%s</code>: %s.\n", name,
	    sharing ? sharing->summary : "update times by the closed form; memory and the other phases are not judged");
}

static void write_policy(const struct report *r, const char *name)
{
	const struct policy *const policy = policy_find(name);

	if (policy)
		html_printf(r->out, "<li><code>%s</code>: %s (%s).\n", name, policy->summary, policy->source);
	else
		html_printf(r->out, "<li><code>%s</code>: a policy that this dos does not have.\n", name);
}

static void write_assumptions(const struct report *r)
{
	const struct opt_list contentions = distinct(r, offsetof(struct plot_row, contention));
	const struct opt_list policies = distinct(r, offsetof(struct plot_row, policy));

	fputs("<section id=\"assumptions\"><h2>Assumptions</h2>\n<ul>\n"
	      "<li>Every time is a prediction by simulation, not a measurement; <code>dos validate</code> says how far predictions are from "
	      "recorded runs.\n"
	      "<li>An iteration is the last of three; forward, backward, update and other add up to it.\n"
	      "<li>One node, data parallel over its GPUs with ZeRO-3, Adam with 32-bit states, 16-bit parameters.\n"
	      "<li>GPU memory is the allocator's peak of one GPU; host memory is of the node, without its operating system. A run fits when "
	      "both, and what is pinned, are within the machine's.\n"
	      "<li>1 GiB is 1024<sup>3</sup> bytes; bandwidths are decimal.\n", r->out);
	if (r->is_sure)
		fputs("<li>A 90 % interval joins what is not known of the machine, from draws of its profile, and how far the model is off on other "
		      "machines. All alternatives see the same draws; what is the fastest in a share of them is the best with that probability.\n",
		    r->out);
	for (size_t i = 0; i < contentions.n; i++)
		write_contention(r, contentions.items[i]);
	fputs("</ul>\n<h3>Policies</h3>\n<ul>\n", r->out);
	for (size_t i = 0; i < policies.n; i++)
		write_policy(r, policies.items[i]);
	fputs("</ul></section>\n", r->out);
}

/* ---- machines */

struct stored_profile {
	const char *name, *summary;
	bool is_known; /* the profile of that name has the numbers that were stored */
};

static const char *text_at(sqlite3_stmt *statement, int column, struct arena *arena)
{
	const unsigned char *const text = sqlite3_column_text(statement, column);

	return text ? arena_strdup(arena, (const char *)text) : "";
}

/* The stored profiles of one name: they differ by --scale, or because the file changed. */
static int find_stored(struct stored_profile *stored, sqlite3 *db, const char *path, const struct hwprofile *hw, struct arena *arena, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT profile_hash, summary FROM profiles WHERE name = ?1 ORDER BY rowid", -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(statement, 1, stored->name, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		stored->summary = text_at(statement, 1, arena);
		stored->is_known |= hw && (unsigned long long)sqlite3_column_int64(statement, 0) == hw->content_hash;
	}
	if (rc != SQLITE_OK)
		store_sqlite_error(db, path, err);
	sqlite3_finalize(statement);
	return rc == SQLITE_OK ? 0 : err->code;
}

/* One that was given, or a shipped one; NULL neither. */
static const struct hwprofile *load_known(const struct report *r, const char *name)
{
	const struct plot_source source = {.machines = r->input->machines};
	struct hwprofile *const hw = arena_alloc(r->arena, 1, sizeof(*hw));
	struct err err;

	return !hwprofile_is_file(name) && plot_machine(hw, name, &source, r->arena, &err) == 0 ? hw : NULL;
}

static void write_kind(const struct report *r, const struct hwprofile *hw, enum hw_kind kind, const char *meaning)
{
	const char *names = "";
	size_t n = 0;

	for (size_t i = 0; i < HW_N_VALUES + HW_N_CURVES; i++) {
		const bool is_value = i < HW_N_VALUES;
		if ((is_value ? hw->value_meta[i].kind : hw->curve_meta[i - HW_N_VALUES].kind) != kind)
			continue;
		names = arena_printf(r->arena, "%s%s%s", names, n++ ? ", " : "", is_value ? hw_value_fields[i].name : hw_curve_fields[i - HW_N_VALUES].name);
	}
	if (n > 0)
		html_printf(r->out, "<tr><th scope=\"row\">%s<td>%s<td class=\"t from\">%s<td class=\"t names\">%s\n", hw_kind_names[kind],
		    arena_printf(r->arena, "%zu", n), meaning, names);
}

static void write_numbers(const struct report *r, const struct hwprofile *hw)
{
	const struct hw_provenance *const p = &hw->provenance;

	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kinds of numbers\"><table><thead><tr><th scope=\"col\" class=\"t\">kind<th scope=\"col\">numbers"
	      "<th scope=\"col\" class=\"t\">from<th scope=\"col\" class=\"t\">which</thead><tbody>\n", r->out);
	write_kind(r, hw, HW_KIND_MEASURED, "measured on this machine");
	write_kind(r, hw, HW_KIND_FITTED, "fitted to recorded runs of it");
	write_kind(r, hw, HW_KIND_DATASHEET, "the maker's data sheet");
	write_kind(r, hw, HW_KIND_ASSUMED, "assumed, mostly from like machines");
	write_kind(r, hw, HW_KIND_DEFAULT, "not in the profile: built-in default");
	fputs("</tbody></table></div>\n", r->out);
	if (*p->note)
		html_printf(r->out, "<p>%s</p>\n", p->note);
	fputs("<ul class=\"sources\">\n", r->out);
	html_printf(r->out, "<li>%s%s%s%s%s\n", *p->tool ? p->tool : "unknown tool", *p->date ? ", " : "", p->date, *p->machine ? ", " : "", p->machine);
	for (size_t i = 0; i < p->n_sources; i++)
		html_printf(r->out, "<li>%s\n", p->sources[i]);
	if (hw->n_fitted_on)
		fprintf(r->out, "<li>fitted on %zu recorded rows\n", hw->n_fitted_on);
	fputs("</ul>\n", r->out);
}

static int write_machine(const struct report *r, sqlite3 *db, const char *name, struct err *err)
{
	const struct hwprofile *const hw = load_known(r, name);
	struct stored_profile stored = {.name = name, .summary = ""};

	if (find_stored(&stored, db, r->input->db, hw, r->arena, err))
		return err->code;
	html_printf(r->out, "<h3>%s</h3>\n<p>%s</p>\n", name, stored.summary);
	if (stored.is_known)
		write_numbers(r, hw);
	else
		fputs(hw ? "<p>A profile of this name is known, but with other numbers than these runs used: scaled, or changed since.</p>\n"
		         : "<p>The profile is neither a shipped one nor given with --hw, so the kinds of its numbers are not known here.</p>\n", r->out);
	return 0;
}

static int write_stored_machines(const struct report *r, struct err *err)
{
	const struct opt_list names = distinct(r, offsetof(struct plot_row, hw));
	sqlite3 *db;
	int code = store_open_defensive(&db, r->input->db, err);

	for (size_t i = 0; !code && i < names.n; i++)
		code = write_machine(r, db, names.items[i], err);
	sqlite3_close(db);
	return code;
}

static int write_machines(const struct report *r, struct err *err)
{
	int code = 0;

	fputs("<section id=\"machines\"><h2>Machines</h2>\n", r->out);
	if (r->input->given) {
		html_printf(r->out, "<h3>%s</h3>\n<p>%s</p>\n", r->input->given->hw->name, r->input->given->hw->summary);
		write_numbers(r, r->input->given->hw);
	} else {
		code = write_stored_machines(r, err);
	}
	fputs("</section>\n", r->out);
	return code;
}

/* ---- provenance */

static void write_provenance(const struct report *r)
{
	html_printf(r->out, "<section id=\"provenance\"><h2>Provenance</h2>\n<dl>");
	html_printf(r->out, "<div><dt>program</dt><dd>dos %s, results version %s</dd></div>", DOS_VERSION,
	    arena_printf(r->arena, "%d", RESULTS_VERSION));
	html_printf(r->out, "<div><dt>runs</dt><dd>%s from %s</dd></div>", arena_printf(r->arena, "%zu", r->rows.n), r->rows.origin);
	html_printf(r->out, "<div class=\"wide\"><dt>command</dt><dd><code>%s</code></dd></div></dl></section>\n", r->input->command);
}

int report_sources(const struct report *r, struct err *err)
{
	write_assumptions(r);
	const int code = write_machines(r, err);
	write_provenance(r);
	return code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later
 * Edited configurations: the recommended keys, and no other byte. */
#include "model/ds_edit.h"

#include <dirent.h>
#include <stdlib.h>

#include "model/base/file_text.h"
#include "tests/unit/test_util.h"

static struct arena arena;

static void teardown(void)
{
	arena_release(&arena);
}

static char *edit(const char *text, const struct ds_recommendation *what)
{
	struct err err = {0};
	char *result;
	size_t n_result;

	ck_assert_msg(ds_edit(&result, &n_result, "ds.json", text, strlen(text), what, &arena, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(n_result, strlen(result));
	return result;
}

#define NOTHING \
	{ \
		.ratio = NAN \
	}
#define RATIO \
	{ \
		.ratio = 0.8 \
	}

static const struct {
	const char *what;
	struct ds_recommendation recommendation;
	const char *before, *after;
} rows[] = {
    {"nothing", NOTHING, "{ }", "{ }"},
    {"a value replaced", RATIO, "{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\" : 1.0 , \"device\":\"cpu\"}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\" : 0.8 , \"device\":\"cpu\"}}}"},
    {"the same value, otherwise written", {.ratio = 1, .subgroup_params = 5e8},
	"{\"zero_optimization\": {\"sub_group_size\": 5e8, \"offload_optimizer\": {\"ratio\": 1.0}}}",
	"{\"zero_optimization\": {\"sub_group_size\": 5e8, \"offload_optimizer\": {\"ratio\": 1.0}}}"},
    {"auto replaced", {.ratio = NAN, .subgroup_params = 1e8}, "{\"zero_optimization\": {\"sub_group_size\": \"auto\"}}",
	"{\"zero_optimization\": {\"sub_group_size\": 100000000}}"},
    {"added on a line", RATIO, "{\"zero_optimization\": {\"offload_optimizer\": { \"device\": \"cpu\" }}}",
	"{\"zero_optimization\": {\"offload_optimizer\": { \"device\": \"cpu\", \"ratio\": 0.8 }}}"},
    {"added below, tabs", RATIO,
	"{\n\t\"zero_optimization\":{\n\t\t\"offload_optimizer\":{\n\t\t\t\"device\":\"cpu\"\n\t\t}\n\t}\n}\n",
	"{\n\t\"zero_optimization\":{\n\t\t\"offload_optimizer\":{\n\t\t\t\"device\":\"cpu\",\n\t\t\t\"ratio\":0.8\n\t\t}"
	"\n\t}\n}\n"},
    {"added after a comment", RATIO,
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\" // host\n    } } }",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\", // host\n      \"ratio\": "
	"0.8\n    } } }"},
    {"added after a comma too many", RATIO,
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\", # host\n    } } }",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\", # host\n      \"ratio\": "
	"0.8,\n    } } }"},
    {"a comment of two lines follows", RATIO,
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\" /* a\n b */\n    } } }",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      \"ratio\": 0.8 /* "
	"a\n b */\n    } } }"},
    {"carriage returns", RATIO,
	"{\r\n  \"zero_optimization\": {\r\n    \"offload_optimizer\": {\r\n      \"device\": \"cpu\"\r\n    }\r\n  "
	"}\r\n}\r\n",
	"{\r\n  \"zero_optimization\": {\r\n    \"offload_optimizer\": {\r\n      \"device\": \"cpu\",\r\n      \"ratio\": "
	"0.8\r\n    }\r\n  }\r\n}\r\n"},
    {"an object made", {.device = "cpu", .ratio = 0.8, .sets_pin = true, .pin = true},
	"{\n  \"zero_optimization\": {\n    \"stage\": 3\n  },\n  \"steps_per_print\": 1\n}\n",
	"{\n  \"zero_optimization\": {\n    \"stage\": 3,\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      "
	"\"ratio\": 0.8,\n"
	"      \"pin_memory\": true\n    }\n  },\n  \"steps_per_print\": 1\n}\n"},
    {"two objects made", {.ratio = NAN, .subgroup_params = 1e8}, "{\n    \"steps_per_print\": 1\n}",
	"{\n    \"steps_per_print\": 1,\n    \"zero_optimization\": {\n        \"sub_group_size\": 100000000\n    }\n}"},
    {"into an empty object", {.ratio = NAN, .subgroup_params = 1e8}, "{\n  \"zero_optimization\": {}\n}",
	"{\n  \"zero_optimization\": {\n    \"sub_group_size\": 100000000\n  }\n}"},
    {"wide colons are not copied", RATIO, "{\"zero_optimization\": {\"offload_optimizer\": {\"device\"   :   \"cpu\"}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"device\"   :   \"cpu\", \"ratio\": 0.8}}}"},
    {"added after a comment of one line", RATIO,
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\" /* host */\n    } } }",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\", /* host */\n      \"ratio\": 0.8\n    } } }"},
    {"the object ends on the line", RATIO,
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\" } } }",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      \"ratio\": 0.8 } } }"},
    {"a long number", RATIO,
	"{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\": "
	"0.50000000000000000000000000000000000000000000000000000000000000000000000000000000}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\": 0.8}}}"},
    {"parameters stay on the GPUs", {.ratio = NAN, .keeps_params = true},
	"{\"zero_optimization\": {\"stage\": 3, \"cpu_offload_param\": true, \"cpu_offload_params\": true}}",
	"{\"zero_optimization\": {\"stage\": 3, \"cpu_offload_param\": false, \"cpu_offload_params\": false}}"},
    {"one for true", {.ratio = NAN, .sets_pin = true, .pin = true},
	"{\"zero_optimization\": {\"offload_optimizer\": {\"pin_memory\": 1}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"pin_memory\": 1}}}"},
    {"true for one", {.ratio = NAN, .sets_fork = true, .stride = 2, .is_async = true, .sets_pin = true, .pin = true},
	"{\"zero_optimization\": {\"offload_optimizer\": {\"prefetch_optimizer\": true, \"prefetch_optimizer_gap\": 2,"
	" \"part_grads_async\": true, \"pin_memory\": true}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"prefetch_optimizer\": true, \"prefetch_optimizer_gap\": 2,"
	" \"part_grads_async\": true, \"pin_memory\": true}}}"},
    {"of nothing", {.ratio = NAN, .subgroup_params = 1e8}, "{}",
	"{\n  \"zero_optimization\": {\n    \"sub_group_size\": 100000000\n  }\n}"},
    {"a byte order mark", RATIO, "\xef\xbb\xbf{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\": 1}}}",
	"\xef\xbb\xbf{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\": 0.8}}}"},
    {"a null object", RATIO, "{\"zero_optimization\": {\"offload_optimizer\": null}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"ratio\": 0.8}}}"},
    {"the older key", {.device = "cpu", .ratio = 0.8},
	"{\n  \"zero_optimization\": {\n    \"cpu_offload\": true,\n    \"stage\": 3\n  }\n}",
	"{\n  \"zero_optimization\": {\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      \"ratio\": 0.8\n   "
	" },\n    \"stage\": 3\n  }\n}"},
    {"the fork's keys", {.ratio = NAN, .sets_fork = true, .stride = 3, .is_async = true},
	"{\"zero_optimization\": {\"offload_optimizer\": {\"prefetch_optimizer\": true, \"prefetch_optimizer_gap\": 2}}}",
	"{\"zero_optimization\": {\"offload_optimizer\": {\"prefetch_optimizer\": true, \"prefetch_optimizer_gap\": 3,"
	" \"part_grads_async\": 1}}}"},
};

START_TEST(edited)
{
	const char *const after = edit(rows[_i].before, &rows[_i].recommendation);

	ck_assert_msg(strcmp(after, rows[_i].after) == 0, "%s:\n%s\nwant:\n%s", rows[_i].what, after, rows[_i].after);
	ck_assert_str_eq(edit(after, &rows[_i].recommendation), after);
}
END_TEST

/* ---- what is refused */

static const struct {
	const char *text, *message;
} refusals[] = {
    {"{", "ds.json:1:"},
    {"{\"zero_optimization\": {\"cpu_offload\": true, \"offload_optimizer\": {}}}", "both there"},
    {"{\"zero_optimization\": true}", "an object would be accepted"},
    {"{\"zero_optimization\": {\"offload_optimizer\": {\"rati\\u006f\": 1}}}", "twice"},
};

START_TEST(refused)
{
	const struct ds_recommendation what = RATIO;
	struct err err = {0};
	char *result;
	size_t n_result;

	ck_assert_int_eq(
	    ds_edit(&result, &n_result, "ds.json", refusals[_i].text, strlen(refusals[_i].text), &what, &arena, &err),
	    STATUS_INPUT);
	assert_has(err.text, refusals[_i].message);
}
END_TEST

/* ---- files of the shared collection, where there is one */

/* The lines of `text` that hold none of the recommended keys, without commas at their ends. */
static char *other_lines(const char *text)
{
	static const char *const keys[] = {
	    "ratio\"", "pin_memory", "sub_group_size", "prefetch_optimizer", "part_grads_async", "device", "offload", NULL};
	char *kept = arena_strdup(&arena, "");

	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		char *const copy = arena_printf(&arena, "%.*s", (int)length, line);
		bool is_kept = strspn(copy, " \t},") < length;
		for (size_t i = 0; keys[i]; i++)
			is_kept &= strstr(copy, keys[i]) == NULL;
		if (length > 0 && copy[length - 1] == ',')
			copy[length - 1] = '\0';
		if (is_kept)
			kept = arena_printf(&arena, "%s%s\n", kept, copy);
		line += length + (line[length] == '\n');
	}
	return kept;
}

static void check_file(const char *path)
{
	const struct ds_recommendation nothing = NOTHING,
				       all = {.device = "cpu",
					   .ratio = 0.7,
					   .subgroup_params = 12345678,
					   .sets_pin = true,
					   .pin = true,
					   .sets_fork = true,
					   .stride = 3};
	char *text;
	size_t n_bytes;
	struct err err = {0};

	ck_assert_msg(file_text_load(&text, &n_bytes, path, &err) == 0, "%s", err.text);
	ck_assert_str_eq(edit(text, &nothing), text);
	const char *const after = edit(text, &all);
	ck_assert_str_eq(edit(after, &all), after);
	ck_assert_str_eq(other_lines(after), other_lines(text));
	free(text);
}

START_TEST(shared_files)
{
	const char *const shared = getenv("DOS_SHARED");
	size_t n_files = 0;

	if (!shared) {
		puts("ds_edit: shared_files skipped, DOS_SHARED is not set");
		return;
	}
	const char *const folder = arena_printf(&arena, "%s/data/ds_config", shared);
	DIR *const dir = opendir(folder);
	ck_assert_ptr_nonnull(dir);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (strstr(entry->d_name, ".json")) {
			check_file(arena_printf(&arena, "%s/%s", folder, entry->d_name));
			n_files++;
		}
	closedir(dir);
	ck_assert_uint_ge(n_files, 1);
}
END_TEST

Suite *ds_edit_suite(void);
Suite *ds_edit_suite(void)
{
	Suite *const suite = suite_create("ds_edit");
	TCase *const core = tcase_create("core"), *const errors = tcase_create("errors");

	tcase_add_checked_fixture(core, NULL, teardown);
	tcase_add_loop_test(core, edited, 0, N_ELEMENTS(rows));
	tcase_add_test(core, shared_files);
	suite_add_tcase(suite, core);
	tcase_add_checked_fixture(errors, NULL, teardown);
	tcase_add_loop_test(errors, refused, 0, N_ELEMENTS(refusals));
	suite_add_tcase(suite, errors);
	return suite;
}

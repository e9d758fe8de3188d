/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/base/file_replace.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test_util.h"

Suite *file_replace_suite(void);

static struct arena arena;
static char folder[64];

static void setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/check_replace_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
	arena_release(&arena);
}

static const char *in_folder(const char *name)
{
	return arena_printf(&arena, "%s/%s", folder, name);
}

static void expect(const char *path, const char *want)
{
	char text[64] = "";
	FILE *const in = fopen(path, "r");

	ck_assert_ptr_nonnull(in);
	ck_assert(fgets(text, sizeof(text), in) != NULL || *want == '\0');
	fclose(in);
	ck_assert_str_eq(text, want);
}

static void write_file(const char *path, const char *text)
{
	struct file_replace file;
	struct err err;

	ck_assert_msg(file_replace_open(&file, path, &arena, &err) == 0, "%s", err.text);
	fputs(text, file.out);
	ck_assert_msg(file_replace_commit(&file, &err) == 0, "%s", err.text);
}

static const char *temp_of(const char *name)
{
	return in_folder(arena_printf(&arena, "%s.dos-%ld-0.tmp", name, (long)getpid()));
}

START_TEST(replaces_when_committed)
{
	const char *const path = in_folder("a");
	struct file_replace file;
	struct err err;

	write_file(path, "one");
	expect(path, "one");
	ck_assert_int_eq(file_replace_open(&file, path, &arena, &err), 0);
	fputs("two", file.out);
	fflush(file.out);
	expect(path, "one");
	expect(temp_of("a"), "two");
	ck_assert_int_eq(file_replace_commit(&file, &err), 0);
	expect(path, "two");
	ck_assert_int_ne(access(temp_of("a"), F_OK), 0);
}
END_TEST

START_TEST(keeps_the_old_when_cancelled)
{
	const char *const path = in_folder("a");
	struct file_replace file;
	struct err err;

	write_file(path, "one");
	ck_assert_int_eq(file_replace_open(&file, path, &arena, &err), 0);
	fputs("two", file.out);
	file_replace_cancel(&file);
	expect(path, "one");
	ck_assert_int_ne(access(temp_of("a"), F_OK), 0);
}
END_TEST

START_TEST(links_stay_links)
{
	struct stat info;

	write_file(in_folder("real"), "one");
	ck_assert_int_eq(symlink("real", in_folder("link")), 0);
	write_file(in_folder("link"), "two");
	ck_assert_int_eq(lstat(in_folder("link"), &info), 0);
	ck_assert(S_ISLNK(info.st_mode));
	expect(in_folder("real"), "two");
}
END_TEST

/* Left there by somebody else, as in /tmp: what it points to is not written. */
START_TEST(a_link_as_temporary_is_not_followed)
{
	write_file(in_folder("victim"), "one");
	ck_assert_int_eq(symlink("victim", temp_of("a")), 0);
	write_file(in_folder("a"), "two");
	expect(in_folder("victim"), "one");
	expect(in_folder("a"), "two");
}
END_TEST

START_TEST(devices_are_written_directly)
{
	struct file_replace file;
	struct err err;

	write_file("/dev/null", "nothing");
	ck_assert_int_eq(file_replace_open(&file, "/dev/full", &arena, &err), 0);
	fputs("text", file.out);
	ck_assert_int_eq(file_replace_commit(&file, &err), STATUS_ENV);
	assert_has(err.text, "/dev/full: cannot be written: No space left on device");
}
END_TEST

/* What does not fit into the buffer has failed before the end. */
START_TEST(a_full_device_is_named)
{
	struct file_replace file;
	struct err err;

	ck_assert_int_eq(file_replace_open(&file, "/dev/full", &arena, &err), 0);
	for (int i = 0; i < 100000; i++)
		putc('x', file.out);
	fflush(file.out);
	ck_assert_int_eq(file_replace_commit(&file, &err), STATUS_ENV);
	assert_has(err.text, "/dev/full: cannot be written: No space left on device");
}
END_TEST

/* The reason is that of the first write that failed, however much was written after it. */
START_TEST(a_full_disk_is_named)
{
	const struct rlimit limit = {.rlim_cur = 8192, .rlim_max = 8192};
	struct file_replace file;
	struct err err;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(file_replace_open(&file, in_folder("a"), &arena, &err), 0);
	for (int i = 0; i < 100000; i++)
		putc('x', file.out);
	fflush(file.out);
	ck_assert_int_eq(file_replace_commit(&file, &err), STATUS_ENV);
	assert_has(err.text, "a: cannot be written: File too large");
	ck_assert_int_ne(access(in_folder("a"), F_OK), 0);
}
END_TEST

START_TEST(what_cannot_be_written)
{
	struct file_replace file;
	struct err err;

	ck_assert_int_eq(file_replace_open(&file, in_folder("no/file"), &arena, &err), STATUS_ENV);
	assert_has(err.text, "no/file: cannot be written: No such file or directory");
	ck_assert_int_eq(file_replace_open(&file, folder, &arena, &err), STATUS_ENV);
	assert_has(err.text, "Is a directory");
}
END_TEST

static void put(const char *path)
{
	FILE *const out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fclose(out);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A killed writer's file goes at the next write of the same file; one that is being written, and what only looks like it, stay. */
START_TEST(leftovers_of_the_killed_go)
{
	static const char *const others[] = {"a.1.tmp", "a.dos-1.tmp", "a.dos-1-.tmp", "a.dos--0.tmp", "a.dos-1-0.tmp.txt", "a.dos-1-0x.tmp",
	    "a.dos-x-0.tmp", "ab.dos-1-0.tmp", "b.dos-1-0.tmp", ".dos-1-0.tmp"};
	struct file_replace living;
	struct err err;
	int status;
	const pid_t killed = fork();

	if (killed == 0) {
		struct file_replace file;
		if (file_replace_open(&file, in_folder("a"), &arena, &err) == 0)
			raise(SIGKILL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(killed, &status, 0), killed);
	ck_assert(WIFSIGNALED(status));
	const char *const left = in_folder(arena_printf(&arena, "a.dos-%ld-0.tmp", (long)killed));
	ck_assert(is_there(left));
	for (size_t i = 0; i < N_ELEMENTS(others); i++)
		put(in_folder(others[i]));
	write_file(in_folder("c"), "one");
	ck_assert(is_there(left));
	ck_assert_int_eq(file_replace_open(&living, in_folder("a"), &arena, &err), 0);
	ck_assert(!is_there(left));
	const char *const renamed = in_folder("a.dos-7-12.tmp"); /* as that of another process */
	ck_assert_int_eq(rename(living.temp, renamed), 0);
	write_file(in_folder("a"), "two");
	expect(in_folder("a"), "two");
	ck_assert(is_there(renamed));
	file_replace_cancel(&living);
	write_file(in_folder("a"), "three");
	ck_assert(!is_there(renamed));
	for (size_t i = 0; i < N_ELEMENTS(others); i++)
		ck_assert_msg(is_there(in_folder(others[i])), "%s is gone", others[i]);
}
END_TEST

/* Of the same process number in another container, or where no lock tells: neither is in the way. What is no file is not ours. */
START_TEST(a_taken_name_is_not_in_the_way)
{
	struct file_replace other;
	struct err err;

	ck_assert_int_eq(file_replace_open(&other, in_folder("a"), &arena, &err), 0);
	fputs("other", other.out);
	ck_assert_int_eq(mkfifo(in_folder("a.dos-1-0.tmp"), 0600), 0);
	write_file(in_folder("a"), "own");
	expect(in_folder("a"), "own");
	ck_assert(is_there(other.temp) && is_there(in_folder("a.dos-1-0.tmp")));
	ck_assert_int_eq(file_replace_commit(&other, &err), 0);
	expect(in_folder("a"), "other");
}
END_TEST

START_TEST(permissions_stay)
{
	struct stat info;

	write_file(in_folder("a"), "one");
	ck_assert_int_eq(chmod(in_folder("a"), 0640), 0);
	write_file(in_folder("a"), "two");
	ck_assert_int_eq(stat(in_folder("a"), &info), 0);
	ck_assert_uint_eq(info.st_mode & 07777, 0640);
	ck_assert_int_eq(chmod(in_folder("a"), 0600), 0);
	write_file(in_folder("a"), "three");
	ck_assert_int_eq(stat(in_folder("a"), &info), 0);
	ck_assert_uint_eq(info.st_mode & 07777, 0600);
}
END_TEST

START_TEST(checked_beforehand)
{
	struct err err;

	ck_assert_int_eq(file_replace_check(NULL, &arena, &err), 0);
	ck_assert_int_eq(file_replace_check("-", &arena, &err), 0);
	ck_assert_int_eq(file_replace_check("/dev/null", &arena, &err), 0);
	ck_assert_int_eq(file_replace_check(in_folder("a"), &arena, &err), 0);
	ck_assert(!is_there(in_folder("a")) && !is_there(temp_of("a")));
	write_file(in_folder("a"), "one");
	ck_assert_int_eq(file_replace_check(in_folder("a"), &arena, &err), 0);
	expect(in_folder("a"), "one");
	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0); /* nobody reads it: an open would wait */
	ck_assert_int_eq(file_replace_check(in_folder("pipe"), &arena, &err), 0);
	ck_assert_int_eq(file_replace_check(in_folder("no/file"), &arena, &err), STATUS_ENV);
	assert_has(err.text, "no/file: cannot be written: No such file or directory");
	ck_assert_int_eq(file_replace_check(folder, &arena, &err), STATUS_ENV);
	assert_has(err.text, "Is a directory");
}
END_TEST

Suite *file_replace_suite(void)
{
	Suite *const suite = suite_create("file_replace");
	TCase *const core = tcase_create("core");

	tcase_add_checked_fixture(core, setup, teardown);
	tcase_add_test(core, replaces_when_committed);
	tcase_add_test(core, keeps_the_old_when_cancelled);
	tcase_add_test(core, links_stay_links);
	tcase_add_test(core, a_full_disk_is_named);
	tcase_add_test(core, a_link_as_temporary_is_not_followed);
	tcase_add_test(core, devices_are_written_directly);
	tcase_add_test(core, a_full_device_is_named);
	tcase_add_test(core, what_cannot_be_written);
	tcase_add_test(core, leftovers_of_the_killed_go);
	tcase_add_test(core, a_taken_name_is_not_in_the_way);
	tcase_add_test(core, permissions_stay);
	tcase_add_test(core, checked_beforehand);
	suite_add_tcase(suite, core);
	return suite;
}

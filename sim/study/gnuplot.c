/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/file_replace.h"
#include "model/base/leftovers.h"
#include "model/base/shipped.h"

extern char **environ;

static const struct shipped templates = {.folder = "plots", .suffix = ".gp", .what = "plot template"};
static const char *const suffixes[] = {"svg", "png", "pdf"};

int gnuplot_suffix(const char **suffix, const char *output, struct err *err)
{
	const char *const dot = strrchr(output, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(dot + 1, suffixes[i]) == 0 && dot > output && dot[-1] != '/') {
			*suffix = suffixes[i];
			return 0;
		}
	return err_set(err, STATUS_USAGE, "-o %s: a file name ending in .svg, .png or .pdf would be accepted", output);
}

/* ---- files */

struct files {
	char *folder; /* temporary */
	const char *script, *data; /* in it, or kept beside the output */
	const char *drawing; /* in it: gnuplot does not notice a full disk, so what it drew is copied */
};

static int fail(struct err *err, const char *path)
{
	return err_set(err, STATUS_ENV, "%s: cannot be written: %s", path, strerror(errno));
}

int gnuplot_folder(char **folder, struct arena *arena, struct err *err)
{
	const char *const temp = getenv("TMPDIR");

	*folder = arena_printf(arena, "%s/dos-plot-XXXXXX", temp && *temp ? temp : "/tmp");
	return leftovers_folder(*folder) ? 0 : fail(err, *folder);
}

static int files_name(struct files *files, const struct gnuplot_job *job, struct arena *arena, struct err *err)
{
	const char *const suffix = strrchr(job->output, '.');
	const int stem = (int)(suffix - job->output);

	*files = (struct files){0};
	if (gnuplot_folder(&files->folder, arena, err))
		return err->code;
	files->drawing = arena_printf(arena, "%s/plot%s", files->folder, suffix);
	leftovers_add(files->drawing);
	if (job->has_keep) {
		files->script = arena_printf(arena, "%.*s.gp", stem, job->output);
		files->data = arena_printf(arena, "%.*s.dat", stem, job->output);
		return 0;
	}
	files->script = arena_printf(arena, "%s/plot.gp", files->folder);
	files->data = arena_printf(arena, "%s/plot.dat", files->folder);
	leftovers_add(files->script);
	leftovers_add(files->data);
	return 0;
}

static void remove_noted(const char *path)
{
	(void)remove(path); /* it may not have been made */
	leftovers_drop(path);
}

static void files_remove(const struct files *files, const struct gnuplot_job *job)
{
	if (!job->has_keep) {
		remove_noted(files->script);
		remove_noted(files->data);
	}
	remove_noted(files->drawing);
	remove_noted(files->folder);
}

static int write_data(const char *path, const struct plot *plot, struct arena *arena, struct err *err)
{
	struct file_replace file;
	const int code = file_replace_open(&file, path, arena, err);

	if (code)
		return code;
	fwrite(plot->data_text, 1, plot->data_size, file.out);
	return file_replace_commit(&file, err);
}

static int append_file(FILE *out, const char *path, struct err *err)
{
	char buffer[4096];
	size_t n;
	FILE *const in = fopen(path, "re");

	if (!in)
		return err_set(err, STATUS_INPUT, "%s: %s", path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, n, out);
	fclose(in);
	return 0;
}

static int append_template(FILE *out, const char *name, struct arena *arena, struct err *err)
{
	const char *path;

	return shipped_find(&path, &templates, name, arena, err) ? err->code : append_file(out, path, err);
}

static int write_script(const struct files *files, struct plot *plot, const struct gnuplot_job *job, struct err *err)
{
	const char *suffix = "";
	struct file_replace file;

	int code = gnuplot_suffix(&suffix, job->output, err);
	if (!code)
		code = file_replace_open(&file, files->script, plot->arena, err);
	if (code)
		return code;
	plot_text(plot, "suffix", suffix);
	plot_text(plot, "data", files->data);
	fputs("if (!exists('output')) ", plot->vars);
	plot_text(plot, "output", job->output);
	fflush(plot->vars);
	fwrite(plot->vars_text, 1, plot->vars_size, file.out);
	code = append_template(file.out, "style", plot->arena, err);
	if (!code)
		code = append_template(file.out, job->kind, plot->arena, err);
	if (!code)
		return file_replace_commit(&file, err);
	file_replace_cancel(&file);
	return code;
}

/* ---- the program */

/* "output = 'PATH'" for -e: the kept script names the final output. */
static const char *assignment(const char *path, struct arena *arena)
{
	const char *text = "output = '";

	for (const char *c = path; *c; c++)
		text = *c == '\'' ? arena_printf(arena, "%s' . \"'\" . '", text) : arena_printf(arena, "%s%c", text, *c);
	return arena_printf(arena, "%s'", text);
}

/* What gnuplot said, without its echo of the line and the caret below it. */
static const char *read_messages(int fd, struct arena *arena)
{
	enum { MESSAGES_MAX = 600 };
	char *const text = arena_zalloc(arena, MESSAGES_MAX + 1, 1);
	ssize_t n = pread(fd, text, MESSAGES_MAX, 0);

	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\n' || text[i] == '\t')
			text[i] = ' ';
	while (n > 0 && text[n - 1] == ' ')
		text[--n] = '\0';
	return text + strspn(text, " ^");
}

/* Ours, with a locale of UTF-8 and numbers as we write them, whatever the person's is. */
static char **make_environment(struct arena *arena)
{
	size_t n = 0;

	while (environ[n])
		n++;
	char **const copy = arena_alloc(arena, n + 2, sizeof(*copy));
	size_t n_kept = 0;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LC_", 3) != 0 && strncmp(environ[i], "LANG", 4) != 0)
			copy[n_kept++] = environ[i];
	copy[n_kept++] = arena_strdup(arena, "LC_ALL=C.UTF-8");
	copy[n_kept] = NULL;
	return copy;
}

static int start(pid_t *pid, const char *script, const char *target, int errors, struct arena *arena)
{
	posix_spawn_file_actions_t actions;
	char *const argv[] = {arena_strdup(arena, "gnuplot"), arena_strdup(arena, "-d"), arena_strdup(arena, "-e"),
	    arena_strdup(arena, assignment(target, arena)), arena_strdup(arena, script), NULL};

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	const int code = posix_spawnp(pid, argv[0], &actions, NULL, argv, make_environment(arena));
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

static int cannot_run(int why, struct err *err)
{
	return err_set(err, STATUS_ENV, "gnuplot: cannot be run: %s; it is in the package gnuplot-nox (apt-get install gnuplot-nox)",
	    strerror(why));
}

static int run(const char **messages, const char *script, const char *target, struct arena *arena, struct err *err)
{
	FILE *const errors = tmpfile();
	pid_t pid;
	int status = 0;

	if (!errors)
		return fail(err, "a temporary file");
	const int code = start(&pid, script, target, fileno(errors), arena);
	if (code) {
		fclose(errors);
		return cannot_run(code, err);
	}
	leftovers_child(pid);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	leftovers_child(0);
	*messages = read_messages(fileno(errors), arena);
	fclose(errors);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* posix_spawn may say so only now */
		return cannot_run(ENOENT, err);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, STATUS_ENV, "gnuplot failed: %s", **messages ? *messages : "it says nothing");
	return 0;
}

/* gnuplot 5.4 ignores errors of writing and exits with 0: the last bytes tell. */
static bool is_whole(const char *path)
{
	static const char *const ends[] = {"</svg>", "IEND\256B`\202", "%%EOF"};
	char last[32];
	FILE *const in = fopen(path, "re");

	if (!in)
		return false;
	if (fseek(in, -(long)sizeof(last), SEEK_END) != 0)
		rewind(in);
	const size_t n = fread(last, 1, sizeof(last), in);
	fclose(in);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (memmem(last, n, ends[i], strlen(ends[i])))
			return true;
	return false;
}

static int check_drawing(const struct files *files, const char *messages, struct err *err)
{
	if (is_whole(files->drawing))
		return 0;
	return err_set(err, STATUS_ENV, "gnuplot could not write the whole figure into %s%s%s; is there no space left?", files->folder,
	    *messages ? ": " : "", messages);
}

int gnuplot_draw(const char **warnings, struct plot *plot, const struct gnuplot_job *job, struct err *err)
{
	struct file_replace output;
	struct files files;

	*warnings = "";
	fflush(plot->data);
	int code = file_replace_open(&output, job->output, plot->arena, err);
	if (code)
		return code;
	code = files_name(&files, job, plot->arena, err);
	if (!code)
		code = write_data(files.data, plot, plot->arena, err);
	if (!code)
		code = write_script(&files, plot, job, err);
	if (!code)
		code = run(warnings, files.script, files.drawing, plot->arena, err);
	if (!code)
		code = check_drawing(&files, *warnings, err);
	if (!code)
		code = append_file(output.out, files.drawing, err);
	if (code)
		file_replace_cancel(&output);
	else
		code = file_replace_commit(&output, err);
	if (files.folder)
		files_remove(&files, job);
	return code;
}

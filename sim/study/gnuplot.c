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
	char *folder; /* temporary, NULL: kept beside the output */
	const char *script, *data;
};

static int fail(struct err *err, const char *path)
{
	return err_set(err, STATUS_ENV, "%s: cannot be written: %s", path, strerror(errno));
}

int gnuplot_folder(char **folder, struct arena *arena, struct err *err)
{
	const char *const temp = getenv("TMPDIR");

	*folder = arena_printf(arena, "%s/dos-plot-XXXXXX", temp && *temp ? temp : "/tmp");
	return mkdtemp(*folder) ? 0 : fail(err, *folder);
}

static int files_name(struct files *files, const struct gnuplot_job *job, struct arena *arena, struct err *err)
{
	const int stem = (int)(strrchr(job->output, '.') - job->output);

	*files = (struct files){0};
	if (job->has_keep) {
		files->script = arena_printf(arena, "%.*s.gp", stem, job->output);
		files->data = arena_printf(arena, "%.*s.dat", stem, job->output);
		return 0;
	}
	if (gnuplot_folder(&files->folder, arena, err))
		return err->code;
	files->script = arena_printf(arena, "%s/plot.gp", files->folder);
	files->data = arena_printf(arena, "%s/plot.dat", files->folder);
	return 0;
}

static void files_remove(const struct files *files)
{
	if (!files->folder)
		return;
	unlink(files->script);
	unlink(files->data);
	rmdir(files->folder);
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

static int append_template(FILE *out, const char *name, struct arena *arena, struct err *err)
{
	const char *path;
	char buffer[4096];
	size_t n;

	if (shipped_find(&path, &templates, name, arena, err))
		return err->code;
	FILE *const in = fopen(path, "re");
	if (!in)
		return err_set(err, STATUS_INPUT, "%s: %s", path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, n, out);
	fclose(in);
	return 0;
}

static int write_script(const struct files *files, struct plot *plot, const struct gnuplot_job *job, struct err *err)
{
	const char *suffix;
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

static int run(const char **messages, const char *script, const char *target, struct arena *arena, struct err *err)
{
	FILE *const errors = tmpfile();
	struct stat info;
	pid_t pid;
	int status = 0;

	if (!errors)
		return fail(err, "a temporary file");
	const int code = start(&pid, script, target, fileno(errors), arena);
	if (code) {
		fclose(errors);
		return err_set(err, STATUS_ENV, "gnuplot: cannot be run: %s; it is in the package gnuplot-nox (apt-get install gnuplot-nox)",
		    strerror(code));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	*messages = read_messages(fileno(errors), arena);
	fclose(errors);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, STATUS_ENV, "gnuplot failed: %s", **messages ? *messages : "it says nothing");
	if (stat(target, &info) != 0 || (S_ISREG(info.st_mode) && info.st_size == 0))
		return err_set(err, STATUS_ENV, "gnuplot wrote nothing: %s", **messages ? *messages : "it says nothing");
	return 0;
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
		code = run(warnings, files.script, output.temp ? output.temp : output.path, plot->arena, err);
	if (code)
		file_replace_cancel(&output);
	else
		code = file_replace_commit(&output, err);
	files_remove(&files);
	return code;
}

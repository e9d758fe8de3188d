/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * err: what went wrong, where, and what would be accepted.
 *
 * Every function that can meet bad input or a bad environment returns 0 or a code of enum status and fills the
 * caller's struct err. The codes are the program's exit codes. Nothing below main prints or exits.
 */
#ifndef MODEL_BASE_ERR_H
#define MODEL_BASE_ERR_H

/* name, exit code, meaning */
#define STATUS_LIST(X)                                                                                              \
	X(OK, 0, "fine")                                                                                            \
	X(NO, 1, "ran, and the answer is no: does not fit, outside a limit, empty selection")                       \
	X(USAGE, 2, "command line, bad option value included")                                                      \
	X(INPUT, 3, "a file or shipped name that is missing, unreadable or wrong")                                  \
	X(ENV, 4, "environment: output not writable, no gnuplot, no device")                                        \
	X(INTERRUPTED, 130, "interrupted; finished results kept")

enum status {
#define STATUS_ENUM(name, code, text) STATUS_##name = (code),
	STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
};

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

struct err {
	int code; /* enum status of the last err_set, 0 before */
	char text[768]; /* one line, no newline; truncated with "..." when longer */
};

/* Sets code and text; returns code, so that callers write `return err_set(...)`. */
int err_set(struct err *err, enum status code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Puts "context: " before the text; returns the code already there. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The word of `words` (NULL-terminated) nearest to `word` by edit distance, or NULL when none is near (distance > 1/2
 * of the longer). For "did you mean". */
const char *err_nearest(const char *word, const char *const words[]);

#endif

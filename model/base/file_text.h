/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * file_text: a whole text file in memory, with its bytes as they are.
 *
 * Refuses directories, and files over FILE_TEXT_MAX_BYTES, without reading them whole. Failures are STATUS_INPUT.
 */
#ifndef MODEL_BASE_FILE_TEXT_H
#define MODEL_BASE_FILE_TEXT_H

#include <stddef.h>

#include "model/base/err.h"

enum { FILE_TEXT_MAX_BYTES = 64 * 1024 * 1024 };

/* path "-" reads standard input. *text is NUL-terminated at *n_bytes; the caller frees it (NULL on failure). */
int file_text_load(char **text, size_t *n_bytes, const char *path, struct err *err) MUST_CHECK;
/* What messages call path. */
const char *file_text_name(const char *path);

#endif

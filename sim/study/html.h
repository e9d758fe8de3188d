/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html: text into a page, whatever it holds.
 *
 * Invariant: what is written is valid UTF-8 without control characters and cannot be markup, neither between tags nor within a
 * quoted attribute.
 */
#ifndef SIM_STUDY_HTML_H
#define SIM_STUDY_HTML_H

#include <stddef.h>
#include <stdio.h>

void html_text(FILE *out, const char *text);
/* Length of the valid UTF-8 character at text, 0 when there is none. */
size_t html_character(const char *text);
/* The format is markup; its arguments, all of them texts (%s), are escaped. */
void html_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

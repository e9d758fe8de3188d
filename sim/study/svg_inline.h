/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * svg_inline: an SVG that gnuplot wrote, made fit to stand within a page beside others.
 *
 * Invariant: what is written has only elements and attributes of a short list, references into itself alone, and ids that start
 * with the prefix; colours are spelled rgb(R,G,B) without spaces, so that a style sheet can name them. Anything else is refused,
 * because a text from elsewhere might have become markup.
 */
#ifndef SIM_STUDY_SVG_INLINE_H
#define SIM_STUDY_SVG_INLINE_H

#include <stdio.h>

#include "model/base/arena.h"
#include "model/base/err.h"

/* label: what the figure shows, for those who do not see it. STATUS_ENV names what is not accepted. */
int svg_inline(FILE *out, const char *svg, const char *prefix, const char *label, struct arena *arena, struct err *err) MUST_CHECK;

#endif

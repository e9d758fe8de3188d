/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/notes.h"

#include <string.h>

const struct rec_note *note_with(const struct recording *rec, const char *part)
{
	for (size_t i = 0; i < rec->n_notes; i++)
		if (strstr(rec->notes[i].text, part))
			return &rec->notes[i];
	return NULL;
}

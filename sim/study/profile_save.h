/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * profile_save: a hardware profile as JSON "dos-hwprofile/1".
 *
 * Invariant: what it writes reads back as the same profile: numbers to the last bit, kinds, intervals, samples, sources and
 * provenance. Defaults that no file gave are left out. "extra" is not kept: the reader does not keep it either.
 */
#ifndef SIM_STUDY_PROFILE_SAVE_H
#define SIM_STUDY_PROFILE_SAVE_H

#include <stdio.h>

#include "model/hwprofile.h"

void profile_save(FILE *out, const struct hwprofile *hw);

#endif

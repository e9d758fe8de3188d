/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/cases.h"

const struct probe_case *const probe_cases[] = {
#define CASE_ENTRY(name) &case_##name,
    CASE_LIST(CASE_ENTRY)
#undef CASE_ENTRY
};

const size_t n_probe_cases = sizeof probe_cases / sizeof probe_cases[0];

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/split_rig.h"

#include "sim/sharing.h"
#include "tests/unit/plain_machine.h"
#include "tests/unit/test_util.h"

void split_setup(struct trial_input *in, struct hwprofile *hw)
{
	plain_machine(hw);
	hw->gpus = 4;
	hw->all_gather_Bps = 100e9;
	*in = (struct trial_input){.hw = hw, .sharing = &sharing_none, .policy = "gpu-only"};
	in->shape = (struct shape){.name = "small", .layers = 1, .hidden = 1024, .heads = 8, .ffn = 4096, .vocab = 16000};
	in->batch = (struct batch){.gpus = 4, .mbs = 1, .seq = 1024, .subgroup_params = 1e9, .has_checkpointing = true};
}

const struct metrics *split_run(struct trial *trial, struct trial_input *in, double stage, double tp, struct arena *arena)
{
	struct err err = {0};

	in->batch.zero_stage = stage;
	in->batch.tp = tp;
	ck_assert_msg(trial_run(trial, in, arena, &err) == 0, "%s", err.text);
	return &trial->metrics;
}

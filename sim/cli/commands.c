/* SPDX-License-Identifier: GPL-3.0-or-later
 * The commands, in the order of dos --help. */
#include "sim/cli/command.h"

const struct command commands[] = {
    {"simulate", command_simulate, "predict one training iteration under a policy, and what limits it"},
    {"model", command_model, "update time in closed form for every stride, and the best one"},
    {"validate", command_validate, "compare predictions with recorded runs"},
    {"plan", command_plan, "what to run: search for the fastest alternative that fits, and say why"},
    {"replay", command_replay, "read a recorded timeline: where its time goes, and what if"},
    {"sweep", command_sweep, "simulate every combination of values, and store it"},
    {"db", command_db, "query and merge stored trials"},
    {"plot", command_plot, "draw a figure: strides, phases, fractions, heat map, validation, memory, lanes"},
    {"report", command_report, "one HTML page of stored runs: what to run, figures, table, sources"},
    {"fit", command_fit, "learn a machine from recorded runs"},
    {"list", command_list, "policies, models, profiles, plots and recorded sets"},
    {"check-config", command_check_config, "count the parameters of a configuration, and warn of known traps"},
    {"profile", command_profile, "show, check or compare hardware profiles"},
    {"config", command_config, "options set by environment and configuration files"},
    {"completion", command_completion, "completion script for bash, zsh or fish"},
};
const size_t n_commands = sizeof(commands) / sizeof(commands[0]);

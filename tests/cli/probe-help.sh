# SPDX-License-Identifier: GPL-3.0-or-later
dos-probe --help
for command in list run update merge; do
	echo
	dos-probe $command --help
done

# SPDX-License-Identifier: GPL-3.0-or-later
# Help and version go to standard output, exit 0.
set -e
dos --help
dos --version | sed 's/ [0-9].*/ VERSION/'
for command in simulate model validate plot list check-config profile; do
	echo "== $command"
	dos $command --help
	dos $command -h | cmp - <(dos $command --help)
done

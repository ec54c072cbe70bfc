# Plugin files, damaged at random, are refused or taken; what the loader dies of is named. The long run is `./dev fuzz
# damaged-plugins`.
set -eu
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/damaged_plugins.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((120 + TEST_SHARE - 1) / TEST_SHARE))

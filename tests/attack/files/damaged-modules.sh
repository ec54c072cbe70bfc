# Modules of every step, damaged at random: what is read prints as what reads back, and nothing ends in a defect. The
# long run is `./dev fuzz damaged-modules`.
set -eu
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/damaged_modules.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((160 + TEST_SHARE - 1) / TEST_SHARE))

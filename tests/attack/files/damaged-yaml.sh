# Pipelines, schedules, machines and cases, damaged at random, are refused at a place, or taken and right. The long run
# is `./dev fuzz damaged-yaml`.
set -eu
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/damaged_yaml.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((160 + TEST_SHARE - 1) / TEST_SHARE))

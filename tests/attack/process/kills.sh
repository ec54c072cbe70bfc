# Signals at random moments: whole outputs, no process and no temporary file is left. The long run is `./dev fuzz
# kills`.
set -eu
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/kills.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((100 + TEST_SHARE - 1) / TEST_SHARE))

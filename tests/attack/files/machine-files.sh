# Machine files with one fact changed: the results of the reference, or a refusal. The long run is `./dev fuzz
# machine-files`.
set -eu
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/machine_files.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((200 + TEST_SHARE - 1) / TEST_SHARE))

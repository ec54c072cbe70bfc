# Signals at random moments: whole outputs, no process and no temporary file is left. The long run is `./dev fuzz
# kills`.
. "$TEST_ROOT/tests/shell.sh"
set -e
# The leak checker stops its process from another one, which a signal at that moment would strand.
if is_sanitized; then export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"; fi
/usr/bin/python3 -B "$TEST_ROOT/tests/attack/drivers/kills.py" --bin "$(dirname "$(command -v pto-opt)")" --count $(((100 + TEST_SHARE - 1) / TEST_SHARE))

# Random programs: what is emitted, all pinned, makes the same bytes; random pins that the search space lists are kept,
# or refused with status 2 at the line of a pin. The long run is `./dev fuzz pins`.
set -u
exec /usr/bin/python3 "$TEST_ROOT/tests/attack/drivers/random_pins.py" --bin "$(dirname "$(command -v pto-opt)")" --seed 1 --count $((80 / TEST_SHARE)) --runs 5 --keep failed

# Random programs, by the default and the native pipeline: what is emitted, all pinned, makes the same bytes; random
# pins that the search space lists are kept, or refused with status 2 at the line of a pin. The long run is
# `./dev fuzz pins`.
set -u
pins() { # PIPELINE SEED COUNT
  /usr/bin/python3 "$TEST_ROOT/tests/attack/drivers/random_pins.py" --bin "$(dirname "$(command -v pto-opt)")" \
    --pipeline "$1" --seed "$2" --count $(($3 / TEST_SHARE)) --runs 5 --keep failed
}
pins default 1 80 && pins native 1000 40

# --check=semantics of single ops of 65,536 elements and of random programs: no step of the default pipeline is named.
# More of it by `./dev fuzz semantics`.
set -u
/usr/bin/python3 "$TEST_ROOT/tests/attack/drivers/semantics_blames.py" --bin "$(dirname "$(command -v pto-opt)")" --ops 10 --programs 10 --seed 100 --jobs 2 --keep .

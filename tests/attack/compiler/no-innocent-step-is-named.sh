# --check=semantics of single ops of 65,536 elements and of random programs: no step of the default pipeline is named.
# More of it by `./dev fuzz semantics`.
. "$TEST_ROOT/tests/shell.sh"
count=10
if is_sanitized; then count=2; fi
/usr/bin/python3 "$TEST_ROOT/tests/attack/drivers/semantics_blames.py" --bin "$(dirname "$(command -v pto-opt)")" --ops $count --programs $count --seed 100 --jobs 2 --keep .

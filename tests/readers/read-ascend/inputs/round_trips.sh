# round_trips LIST KERNELS EXCEPT [OPTION]: round_trip.py with each line of the file LIST that does not match EXCEPT, of
# them the first five with sanitizers; at least KERNELS are written and read. Read by scripts after tests/shell.sh.
round_trips() {
  here=$TEST_ROOT/tests/readers/read-ascend/inputs
  pipeline=$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml
  build=$(dirname "$(dirname "$(command -v pto-opt)")")
  list=$here/$1 at_least=$2 except=$3
  shift 3
  is_sanitized && most=5 || most=100
  kernels=0
  for pair in $(grep -v "$except" "$list" | head -n "$most"); do
    folder=${pair%%/*} module=${pair%%:*} case=${pair##*:}
    rm -rf before after
    ends 0 /usr/bin/python3 -B "$here/round_trip.py" "$build" "$pipeline" "$TEST_ROOT/examples/$module.ptir" \
      "$TEST_ROOT/examples/$folder/$case.yaml" small "$@"
    kernels=$((kernels + $(sed -n 's/ kernels$//p' out)))
  done
  echo "$kernels kernels"
  is_sanitized || [ "$kernels" -ge "$at_least" ] || fail "$kernels kernels"
}

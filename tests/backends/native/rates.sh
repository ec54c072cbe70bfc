# What a run comes to, beside what the machine file says: bytes and operations of the module, by median time.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<$M x $K x f32>, %w: tensor<$K x $N x f32>) -> tensor<$M x $N x f32> {
  %y = tensor.matmul %x, %w : tensor<$M x $N x f32>
  return %y
}
END
sizes='--random-inputs=3 --sym=M=70 --sym=K=300 --sym=N=50'
rates() { # MACHINE CONDITION OPTION..
  machine=$1 condition=$2
  shift 2
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --pipeline=native.yaml --machine="$machine" $sizes --json "$@"
  /usr/bin/python3 -c '
import json, os, sys
cpus = len(os.sched_getaffinity(0))
r = json.load(open("out"))["runs"][0]
q = r["rates"]
time = [c for c in r["counters"] if c["name"] == "time"][0]
near = lambda a, b: abs(a - b) <= 1e-6 * b
assert near(q["seconds"] * 1e6, time["median"]) and time["least"] <= time["median"] <= time["most"], r
assert near(q["bytes_per_second"] * q["seconds"], q["bytes"]) and near(q["operations_per_second"] * q["seconds"], q["operations"]), q
assert eval(sys.argv[1]), r' "$condition" || fail
}
# Every array once, and a product and a sum of each step.
work='q["bytes"] == 4 * (70 * 300 + 300 * 50 + 70 * 50) and q["operations"] == 2 * 70 * 300 * 50'
# 2048 products of f32 in 64 cycles of 3 GHz, 16 bytes a cycle.
rates cpu-avx512.yaml "$work and r['runs'] == 5 and q['threads'] == 2 and q['peak_bytes_per_second'] == 48e9 and q['peak_operations_per_second'] == min(2, cpus) * 2 * 2048 / 64 * 3e9" \
  --threads=2 --repeat=5
# More threads than CPUs have no more of them.
rates cpu-avx512.yaml "q['threads'] == 100 and q['peak_operations_per_second'] == min(100, cpus) * 2 * 2048 / 64 * 3e9" --threads=100
rates cpu-avx2.yaml "$work and q['threads'] == 1" --threads=1
sed '/gm-bytes-per-cycle/d; /^shared:/d' "$TEST_ROOT/pipelines/machines/cpu-avx2.yaml" >unknown.yaml
rates ./unknown.yaml "q['peak_bytes_per_second'] == 0" --threads=1

# shellcheck disable=SC2086
ends 0 pto-run f.ptir --pipeline=native.yaml --machine=cpu-avx2.yaml $sizes --repeat=7 --threads=2
says '^7 runs: medians' out
says '^time: [0-9.]* us, min [0-9.]* us, spread [0-9.]* us$' out
says '^memory: [0-9.e+-]* GB/s, [0-9.e+-]* % of [0-9.]* GB/s of cpu-avx2; 158000 bytes$' out
says '^arithmetic: [0-9.e+-]* GFLOP/s, [0-9.e+-]* % of [0-9.]* GFLOP/s of cpu-avx2 on 2 threads; 2100000 operations$' out

# Elementwise work on rows, whose tiles are cut at the end; a reduction counts the elements that it reads.
cat >f.ptir <<'END'
func @f(%x: tensor<$M x $N x f32>) -> tensor<$M x 1 x f32> {
  %e = tensor.exp %x : tensor<$M x $N x f32>
  %y = tensor.reduce_sum %e {axis = 1} : tensor<$M x 1 x f32>
  return %y
}
END
sizes='--random-inputs=3 --sym=M=13 --sym=N=129'
rates cpu-avx2.yaml 'q["bytes"] == 4 * (13 * 129 + 13) and 2 * 13 * 129 <= q["operations"] <= 2 * 13 * 129 + 13 * 16'
# What a chip could do says nothing of this host.
rates ascend-910b.yaml 'q["peak_bytes_per_second"] == 0 and q["peak_operations_per_second"] == 0'
# shellcheck disable=SC2086
ends 0 pto-run f.ptir --pipeline=native.yaml --machine=ascend-910b.yaml $sizes --report=chip
says '^memory: [0-9.e+-]* GB/s; [0-9]* bytes$' out
says '^arithmetic: [0-9.e+-]* GFLOP/s on [0-9]* threads*; [0-9]* operations$' out
says 'What ascend-910b could do says nothing of this host, which has one kind of core\.' chip/index.html
! grep -q 'of the peak of' chip/index.html || fail 'a share of another machine'
# Another backend has no clock of this machine.
# shellcheck disable=SC2086
ends 0 pto-run f.ptir --pipeline=default.yaml $sizes --json
says '"rates": null' out

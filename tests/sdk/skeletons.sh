#!/bin/sh
# skeletons.sh: `./dev new` in a copy of the tree. What it writes is built, and the test that it writes fails with the
# words that say what is to be done. Ends in "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/pto-new-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
passed=0
failed=0
report() { # OK NAME
  if [ "$1" = ok ]; then
    passed=$((passed + 1))
    echo "ok      $2"
  else
    failed=$((failed + 1))
    echo "FAILED  $2"
    sed 's/^/        /' "$work/log" | tail -n 40
  fi
}
mkdir "$work/tree"
(cd "$root" && tar -c --exclude=./.git --exclude='./build*' .) | tar -x -C "$work/tree" || exit 2
cd "$work/tree" || exit 2

# Everything first, so that one build will do. Lines: arguments of ./dev new, the file that holds the test.
cat >"$work/skeletons" <<'END'
pass tensor/skeleton-a:tests/passes/skeleton-a/changes-what-it-should.ptir
pass tile/skeleton-b:tests/passes/skeleton-b/changes-what-it-should.ptir
pass tiling/skeleton-c:tests/passes/skeleton-c/changes-what-it-should.ptir
pass block/skeleton-d:tests/passes/skeleton-d/changes-what-it-should.ptir
pass exec/skeleton-e:tests/passes/skeleton-e/changes-what-it-should.ptir
op tensor.skeleton_f:tests/ir/tensor/skeleton-f.ptir
op tile.skeleton_g:tests/ir/tile/skeleton-g.ptir
op block.skeleton_h:tests/ir/block/skeleton-h.ptir
op exec.skeleton_i:tests/ir/exec/skeleton-i.ptir
op pto.tskeleton_n:tests/ir/block/tskeleton-n.ptir
backend skeleton-j:tests/backends/skeleton-j/runs-exp.ptir
error E0999:tests/errors/symbols/E0999.ptir
error E1998:tests/errors/schedules/E1998.ptir
test ir/tensor/skeleton-k:tests/ir/tensor/skeleton-k.ptir
test cli/pto-opt/skeleton-l.sh:tests/cli/pto-opt/skeleton-l.sh
test unit/core/skeleton_m:tests/unit/core/test_skeleton_m.c
END
while IFS=: read -r arguments test; do
  # shellcheck disable=SC2086 # words
  ./dev new $arguments >"$work/log" 2>&1 && [ -f "$test" ] && report ok "./dev new $arguments" || report no "./dev new $arguments"
  # Written once, it is not written over.
  # shellcheck disable=SC2086
  ./dev new $arguments >"$work/log" 2>&1 && report no "./dev new $arguments, again"
done <"$work/skeletons"
./dev new error E1999 'a sentence of its own' >"$work/log" 2>&1
grep -q 'DIAG(E1999, "a sentence of its own")' tools/base/diag.def || { : >"$work/log"; report no "./dev new error: the sentence"; }

# A rule of instructions and an element type are rows, an evaluation and cases; what else must know them reads the rows.
inputs=tests/sdk/inputs
sed -i '/^DTYPE(REC64,/a DTYPE(F16E6M9, "f16e6m9", 16, FLOAT, 6, 9, 0x7dff, 0x7f00, "<u2", NULL, NULL)' ir/ops/types.def
sed -i '/^SCRATCH_SIZE(LIKE_SRC,/i RULE(LERP, TILE_OUT("dst", "rc", ON(SCRATCHPAD), PLAIN), TILE("a", "rc", ON(SCRATCHPAD), IN_PLACE) TILE("b", "rc", ON(SCRATCHPAD), IN_PLACE) TILE("w", "1c", ON(SCRATCHPAD), FACTORS) SCRATCH("tmp", BLOCK), .doc = "a, b")\n' \
  ir/ops/rules.def
sed -i '/^INSN_ONLY(SET_FLAG,/i INSN(TLERP, "tlerp", LERP, "lerp", "a + (b - a) w", RULE_LERP, .dtypes = DT_FLOAT, .unit = UNIT_VECTOR, .cost = "mul")' \
  ir/ops/pto.def
cat $inputs/lerp.c.in >>plugins/shared/semantics/insn_reduce.c
sed -i -e "/^for make in (/e cat $inputs/lerp_cases.py" -e 's/^for make in (/&lerp_cases, /' tests/kernels/make_insn_tables.py

cmake -G Ninja -S . -B b -DPTO_TESTS=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 >"$work/log" 2>&1 || { cat "$work/log"; exit 2; }
built="pto-opt pto-run skeleton-a skeleton-b skeleton-c skeleton-d skeleton-e skeleton-j test_skeleton_m"
# shellcheck disable=SC2086 # words
if ninja -C b $built reference cpu-sim select allocate synchronize task-graph test_insn >"$work/log" 2>&1; then
  report ok "what was written builds"
else
  report no "what was written builds"
fi
grep -h 'warning:' "$work/log" | grep skeleton >"$work/warnings" && { cp "$work/warnings" "$work/log"; report no "what was written builds without warnings"; }
# Ops come with an evaluation and with a line of numpy; one without semantics does not link.
grep -q '"skeleton_f": .*write here' tests/kernels/numpy_ops.py && grep -q '"skeleton_n": .*write here' tests/kernels/numpy_ops.py &&
  report ok "ops have a line of numpy" || { cp tests/kernels/numpy_ops.py "$work/log"; report no "ops have a line of numpy"; }

# Of the table of cases only those of the skeleton are wrong, which has no numpy yet.
sh tests/kernels/make-table /usr/bin/python3 tests/kernels/make_insn_tables.py b/insn.bin b/none >"$work/log" 2>&1
b/tests/kernels/test_insn b/insn.bin >"$work/log" 2>&1
grep -qE '^[0-9]+ cases, ' "$work/log" && ! grep -v '^tskeleton_n \|^[0-9]* cases' "$work/log" && ! grep -qxF 'tlerp: no case in the table' "$work/log" &&
  report ok "an instruction of a new rule, and a new element type, compute what numpy does" || report no "a new rule and type"
for after in pto.reference pto.cpu-sim; do
  b/bin/pto-run $inputs/lerp.ptir --passes=pto.select,pto.allocate,pto.synchronize,pto.task-graph --machine=ascend-910b --backend=$after \
    --random-inputs=1 --out=y="$work/$after.npy" >"$work/log" 2>&1 || report no "the new instruction on $after"
done
b/bin/pto-run $inputs/lerp.ptir --backend=pto.reference --random-inputs=1 --out=y="$work/meant.npy" >"$work/log" 2>&1 &&
  cmp "$work/meant.npy" "$work/pto.reference.npy" && cmp "$work/meant.npy" "$work/pto.cpu-sim.npy" &&
  report ok "it has scratch, addresses and flags" || report no "it has scratch, addresses and flags"
sed -i '/eval_TENSOR_SKELETON_F(/d' plugins/shared/semantics/tensor_elementwise.c
ninja -C b reference >"$work/log" 2>&1 && report no "an op without semantics does not link"
grep -q 'undefined reference to .eval_TENSOR_SKELETON_F' "$work/log" && report ok "the build names what the op lacks" || report no "the build names what the op lacks"

fails() { # TEST WORDS: fails, and these are in its output
  case $1 in
  tests/unit/*) b/tests/unit/test_skeleton_m >"$work/log" 2>&1 ;;
  *) sh tests/run-golden -b b "$1" >"$work/log" 2>&1 ;;
  esac && { report no "$1 fails"; return; }
  grep -qF -e "$2" "$work/log" && report ok "$1 fails: $2" || report no "$1 fails: $2"
}
while IFS=: read -r arguments test; do
  case $arguments in
  backend*) fails "$test" 'this backend cannot run `tensor.exp`' ;;
  *) fails "$test" 'write here w' ;;
  esac
done <"$work/skeletons"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

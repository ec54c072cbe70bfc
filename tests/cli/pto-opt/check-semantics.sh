# --check=semantics: the first step after which the numbers are others is named by plugin, step and line of the pipeline, with the
# output, the element, both values, the error and its limit; what cannot be run is said.
. "$TEST_ROOT/tests/shell.sh"
numbers=--plugin=$TEST_PLUGINS/liar-numbers.so
liar=test.liar-numbers
cat >f.ptir <<'END'
func @f(%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {
  %e = tensor.exp %x : tensor<$N x 8 x f32>
  %y = tensor.add %e, %x : tensor<$N x 8 x f32>
  return %y
}
END
checked() { # STATUS MODULE LIAR [OPTIONS]
  wanted=$1 module=$2 pass=$3
  shift 3
  printf 'pto-pipeline: 1\npasses:\n  - pto.canonicalize\n  - pass: %s-swaps\n  - pass: %s-%s\n    id: the-liar\n' \
    "$liar" "$liar" "$pass" >p.yaml
  rm -f out.ptir
  ends "$wanted" pto-opt "$module" "$numbers" --pipeline=p.yaml --check=semantics -o out.ptir "$@"
  [ "$wanted" -eq 0 ] || [ ! -e out.ptir ] || fail "$pass: an output"
}
blames="^p.yaml:5:11: error: \[E190[12]\] step \`the-liar\` (pass $liar-"

# Without the check nobody sees it.
checked 6 f.ptir scales
says "${blames}scales of plugin $liar) changed the numbers: \`y\` of @f at \[[0-9]*, [0-7]\] was [0-9.-]* and is [0-9.-]*, error [0-9.]*, limit 0$"
says "note: 296 of 296 elements are beyond their limit; the pass declares exact numerics, so that no bit may change$"
says 'note: @f was run on random inputs, seed 1, \$N = 37$'
ends 0 pto-opt f.ptir "$numbers" --pipeline=p.yaml -o out.ptir

# One unit in the last place of f32: not for a pass that is exact, but for one that may change the order of sums.
checked 6 f.ptir scales --set the-liar.with.factor=1.00000011920928955078125
says "error: \[E1901\] step"
checked 0 f.ptir reassociates --set the-liar.with.factor=1.00000011920928955078125
says '^semantics: steps that changed the module and not the numbers: 2, bit for bit: 1; largest error [01][0-9.]* of its limit, after `the-liar`$'
says '^semantics: @f on random inputs, \$N = 37$'
checked 6 f.ptir reassociates --set the-liar.with.factor=1.0000152587890625
says "the pass declares that it may change the order of sums"
says "error [0-9.e-]*, limit [1-9][0-9.]*e-0[67]$"

# Symbols and seed.
checked 6 f.ptir scales --sym N=3 --random-inputs 7
says 'random inputs, seed 7, \$N = 3$'
checked 2 f.ptir scales --sym M=3
says 'error: \[E1608\] no public function has a symbol \$M that --sym could give'
checked 2 f.ptir scales --sym M
says 'error: \[E1503\] option `--sym` wants NAME=VALUE, not `M`'
ends 2 pto-opt f.ptir --passes=pto.canonicalize --sym N=3
says 'error: \[E1504\] --sym and --random-inputs have no effect without --check=semantics'
ends 2 pto-opt f.ptir --passes=pto.canonicalize --check=numbers
says 'error: \[E1503\] option `--check` wants semantics, not `numbers`'
ends 2 pto-opt f.ptir --check=semantics
says 'error: \[E1504\] option `--check` has no effect without --pipeline or --passes'

# Integers; a function that is gone, another number of outputs or inputs, an error at run time.
cat >g.ptir <<'END'
func @f(%x: tensor<$N x 8 x i32>) -> (tensor<$N x 8 x i32>, tensor<$N x 8 x i32>) {
  %e = tensor.neg %x : tensor<$N x 8 x i32>
  return %x, %e
}
func @g(%x: tensor<$M x i32>) -> tensor<$M x i32> {
  %e = tensor.neg %x : tensor<$M x i32>
  return %e
}
END
checked 6 g.ptir erases
says 'error: \[E1902\] function @f is gone'
says "${blames}erases of plugin $liar) left a module that does not run on pto.reference, as it did before"
checked 6 g.ptir drops
says "${blames}drops of plugin $liar) changed number, element type or extents of the outputs of @f"
checked 6 g.ptir divides
says "error: \[pto.reference/division-by-zero\]"
says "${blames}divides of plugin $liar) left a module that does not run"
says 'note: @f was run on random inputs, seed 1, \$N = 37$'
checked 6 g.ptir adds-input
says "${blames}adds-input of plugin $liar) left a module that does not run"
says 'error: \[E1902\] @f has 2 inputs, it had 1'
# All public functions are run.
checked 0 g.ptir swaps
says '^semantics: @f on random inputs, \$N = 37$'
says '^semantics: @g on random inputs, \$M = 37$'

# Facts are kept; extents that cannot be small, and facts that cannot be met, are said.
sed 's/^\(func.*\) {$/\1 where ($N mod 16 == 0, $N >= 100) {/' f.ptir >facts.ptir
checked 6 facts.ptir scales
says 'random inputs, seed 1, \$N = 128$'
sed 's/8 x f32/4000001 x f32/g; s/\$N/9/g' f.ptir >large.ptir
checked 2 large.ptir scales
says '^large.ptir:1:1: error: \[E1903\] @f is too large to be run after every step: its parameters and results have 72000018 elements, the limit is 16777216'
says "note: give the symbols with --sym NAME=N, or inputs of your own with pto-run --check=semantics"
sed 's/^\(func.*\) {$/\1 where ($N mod 100003 == 1, $N >= 2) {/' f.ptir >never.ptir
checked 2 never.ptir scales
says 'error: \[E1903\] no small values were found for the symbols of @f that its facts allow'

# Nothing to run, and a module that fails before any step.
sed 's/^func @f/func private @f/' f.ptir >private.ptir
checked 2 private.ptir scales
says '^private.ptir: error: \[E1903\] --check=semantics has nothing to run: the module has no public function'
cat >zero.ptir <<'END'
func @f(%x: tensor<4 x i32>) -> tensor<4 x i32> {
  %z = tensor.constant {value = 0} : tensor<4 x i32>
  %e = tensor.div %x, %z : tensor<4 x i32>
  return %e
}
END
checked 5 zero.ptir swaps
says "error: \[pto.reference/division-by-zero\]"
says "note: --check=semantics cannot go on: this is the module as it was given"

# From the middle of a pipeline, whatever the level; a symbol that `tile` fixes, and that the numbers depend on; steps that were
# taken back, and a smaller tile tried.
pto-opt "$TEST_ROOT/examples/ffn/ffn.ptir" --pipeline=default.yaml --until tile -o tile.ptir || exit 1
ends 0 pto-opt tile.ptir --pipeline=default.yaml --from bufferize --check=semantics -o out.ptir
says '^semantics: steps that changed the module and not the numbers: \([0-9]*\), bit for bit: \1$'
pto-opt tile.ptir --pipeline=default.yaml --from bufferize --until select -o select.ptir || exit 1
ends 0 pto-opt select.ptir --pipeline=default.yaml --from order --check=semantics -o out.ptir
cat >tuned.ptir <<'END'
func @f(%x: tensor<$B x 40 x f32>) -> tensor<$B x 40 x f32> {
  tune $KB in [64, 500] step 64
  %y = tensor.group "f_0" {
    %s = tensor.index_cast from($KB) : tensor<f32>
    %p = tensor.mul %x, %s : tensor<$B x 40 x f32>
    yield %p
  } : tensor<$B x 40 x f32>
  return %y
}
END
for kb in 64 192 448; do
  ends 0 pto-opt tuned.ptir --passes=pto.tile --machine=ascend-910b --set "tile.with.symbols=KB=$kb" --check=semantics -o out.ptir
  grep -q "from($kb)" out.ptir || fail "KB=$kb: not fixed"
done
exits 0 pto-opt "$TEST_ROOT/tests/cli/pto-opt/inputs/long-rows.ptir" --pipeline=default.yaml --set select.with.in-place=false --set allocate.with.reuse=never --check=semantics --progress \
  --verify=paranoid -o out.ptir 2>text || fail "taken back"
[ "$(grep -c '^step [0-9]* of [0-9]*: tile ' text)" -ge 2 ] || fail "nothing was taken back"
says '^semantics: @f on random inputs, \$B = 5$'

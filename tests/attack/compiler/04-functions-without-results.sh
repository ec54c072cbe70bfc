# Nothing to do is legal: a function without results, with dead code alone, without parameters, beside other functions,
# at every level, compiles on the whole pipeline and on each of its ends, and runs.
. "$TEST_ROOT/tests/shell.sh"
pass() { # WHAT COMMAND...: must end with 0
  what=$1; shift
  "$@" >out 2>&1 && return
  complain "$what: failed with $?"
}
put() { printf '%b' "$2" >"$1.ptir"; }
put nothing 'func @f() {\n  return\n}\n'
put unused 'func @f(%x: tensor<4 x f32>) {\n  return\n}\n'
put dead 'func @f(%x: tensor<4 x f32>) {\n  %y = tensor.neg %x : tensor<4 x f32>\n  %v = view %y : tensor<2 x 2 x f32>\n  return\n}\n'
put open 'func @f(%x: tensor<$N x f32>) where ($N >= 3) {\n  bind $n = $N floordiv 2 in [1, 100]\n  tune $T in [1, 4]\n  return\n}\n'
put loop 'func @f() {\n  for %i to 4 {\n  }\n  return\n}\n'
put memory 'func @f(%x: gm<4 x f32>) {\n  %v = view %x : gm<2 x 2 x f32>\n  return\n}\n'
put calls 'func @f(%x: gm<4 x f32>) {\n  call @h(%x)\n  return\n}\nfunc private @h(%x: gm<4 x f32>) {\n  return\n}\n'
for kind in nothing unused dead open loop memory calls; do
  pass "$kind" pto-opt $kind.ptir --pipeline=default.yaml --verify=paranoid -o o.ptir
  pass "$kind, reference" pto-opt $kind.ptir --pipeline=reference.yaml --verify=paranoid -o o.ptir
  pass "$kind, not cleaned up" pto-opt $kind.ptir --pipeline=default.yaml --remove=canonicalize --remove=canonicalize-expanded -o o.ptir
  case $kind in open) symbols="--sym=N=3" tuned="--sym=T=1" ;; *) symbols="" tuned="" ;; esac
  [ $kind = calls ] || pass "$kind runs" pto-run $kind.ptir --random-inputs=1 $symbols # cpu-sim runs no calls
  pass "$kind runs, reference" pto-run $kind.ptir --pipeline=reference.yaml --random-inputs=1 $symbols $tuned
done
for step in bufferize outline select task-graph; do
  for kind in nothing memory calls; do pass "$kind from $step" pto-opt $kind.ptir --pipeline=default.yaml --from=$step -o o.ptir; done
done

# Beside a function that does something, which compiles as it does alone.
put work 'func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  %y = tensor.neg %x : tensor<4 x f32>\n  return %y\n}\n'
pass work pto-opt work.ptir --pipeline=default.yaml -o alone.ptir
sed -n '/block.kernel/,/^  }/p' alone.ptir >alone.kernel
[ -s alone.kernel ] || complain "no kernel: $(cat alone.ptir)"
for kind in nothing unused dead memory calls; do
  cat $kind.ptir work.ptir >both.ptir
  pass "$kind and work" pto-opt both.ptir --pipeline=default.yaml -o both.out
  sed -n '/block.kernel/,/^  }/p' both.out | cmp -s - alone.kernel || complain "$kind changes its neighbour: $(cat both.out)"
done

# What is of another level than the pipeline begins at is refused as before.
sed 's/{$/{\n  forall "a" (%i) to (1) {\n    %t = tile.load %x[0] size(1, 4) : tile<1 x 8 x f32, vec, nd>\n  }/' memory.ptir >tile.ptir
pto-opt tile.ptir --pipeline=default.yaml -o o.ptir 2>err
[ $? -eq 2 ] && grep -q 'works on tensor/1, but only tile/1 is there' err || complain "a tile function"

# After a step, checkers and verifier look at what the step changed: a checker that looks at its function alone is asked
# again for changed functions only, one that looks at others is asked whenever the module changed, and what breaks a
# property is blamed.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  return %a
}
func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  %b = tensor.neg %a : tensor<4 x f32>
  %c = call @f(%b) : tensor<4 x f32>
  return %c
}
END
plugin=--plugin=$TEST_PLUGINS/probe-checks.so
asked() { # PASSES: which checker looked at the function of which line, in order
  pto-opt m.ptir $plugin --passes="$1" --remarks=- -o o.ptir 2>text || complain "$1"
  sed -n 's|^m.ptir:\([0-9]*\):.*remark: \[test.probe-checks/\([a-z]*\)\].*|\2:\1|p' text | tr '\n' ' '
}
wants() { # PASSES WANTED
  got=$(asked "$1")
  [ "$got" = "$2 " ] || complain "$1: looked at $got, wanted $2"
}
wants test.claim-no-exp 'own:1 own:5 callees:1 callees:5'
# A step that changes nothing.
wants 'test.claim-no-exp,test.change{in=nobody}' 'own:1 own:5 callees:1 callees:5'
# One function changes: of @g, which calls it, only the checker of callees is asked again.
for pass in test.change test.change-one; do
  wants "test.claim-no-exp,$pass{in=f}" 'own:1 own:5 callees:1 callees:5 own:1 callees:1 callees:5'
  wants "test.claim-no-exp,$pass{in=g}" 'own:1 own:5 callees:1 callees:5 own:5 callees:5'
done
blames() { # PASSES PLACE PROPERTY STEP
  exits 6 pto-opt m.ptir $plugin --passes="$1" -o no.ptir 2>text || complain "$1"
  grep -q "^m.ptir:$2: error: \[test.probe-checks/exp\]" text && grep -q "\[E1707\] property $3 does not hold after step \`$4\`" text || complain "$1"
}
for pass in test.change test.change-one; do
  step=${pass#test.}
  blames "test.claim-no-exp,$pass{in=f,to=exp}" 2:8 test.no-exp "$step"
  blames "test.claim-no-exp,$pass{in=g,to=exp}" 6:8 test.no-exp "$step"
  # The function of the property, @g, is as it was; what it calls is not.
  blames "test.claim-no-exp-called,$pass{in=f,to=exp}" 2:8 test.no-exp-called "$step"
done

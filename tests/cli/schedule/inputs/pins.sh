# What the scripts of this folder share: modules, the compile command, and a schedule of one pin.
# shellcheck disable=SC2034
softmax=$TEST_ROOT/examples/softmax/softmax.ptir gemm=$TEST_ROOT/examples/gemm/gemm.ptir
compile='pto-opt --pipeline=default.yaml'
pin() { # AT DECIDE VALUE: p.yaml
  printf 'pto-schedule: 1\ndecisions:\n  - at: "%s"\n    decide: %s\n    value: %s\n    pinned: true\n' "$@" >p.yaml
}

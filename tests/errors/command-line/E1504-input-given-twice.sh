# Of two values for one input none is taken in silence, wherever the first comes from.
. "$TEST_ROOT/tests/shell.sh"
negation >m.ptir
/usr/bin/python3 -c "
import numpy
for name in 'xab':
    numpy.save(name + '.npy', numpy.ones(4, numpy.float32))"
fails 2 '^pto-run: error: \[E1504\] input `x` is given twice: --in and --in$' pto-run m.ptir --in x=a.npy --in x=b.npy
cat >case.yaml <<'EOF'
pto-case: 1
name: twice
module: m.ptir
sizes:
  small: { N: 4 }
inputs: { x: x.npy }
outputs:
  y: { expect: a.npy, rule: f32-elementwise }
EOF
fails 2 '^pto-run: error: \[E1504\] input `x` is given twice: --case and --in$' pto-run --case case.yaml --data-dir . --in x=b.npy

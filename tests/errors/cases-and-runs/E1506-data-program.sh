# A data program that fails, and an interpreter that is not there.
. "$TEST_ROOT/tests/shell.sh"
mkdir case && cat >case/case.yaml <<'END'
pto-case: 1
name: broken
module: m.ptir
data: make.py
sizes: { small: { N: 4 } }
inputs: { x: x.npy }
outputs: { y: { expect: y.npy, rule: f32-elementwise } }
END
printf 'func @f() {\n  return\n}\n' >case/m.ptir
echo 'raise SystemExit(7)' >case/make.py
fails 2 'case/make.py: error: \[E1506\] the data program ended with status 7' pto-run --case case/case.yaml --backend=pto.reference
fails 2 'no-such-python: error: \[E1506\] cannot run the data program: No such file or directory' \
  pto-run --case case/case.yaml --backend=pto.reference --python=no-such-python

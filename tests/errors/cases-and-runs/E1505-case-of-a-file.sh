# A file with several cases lists them when another one is asked for; what is for one run needs one case.
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
printf 'pto-case: 1\nname: two\nmodule: f.ptir\nsizes: { small: { n: 4 } }\ninputs: { x: x.npy }\ndata: make.py\ncases:\n' >two.yaml
# shellcheck disable=SC2129
printf '  a: { outputs: { y: { expect: x.npy, rule: tolerance, atol: 8 } } }\n  b: { outputs: { y: { expect: x.npy, rule: tolerance } } }\n' >>two.yaml
printf 'import sys, numpy as np, case_data\nnp.save(sys.argv[1] + "/x.npy", np.arange(4, dtype=np.float32))\n' >make.py
fails 2 'two.yaml:8:3: error: \[E1505\] the file has no case `c`$' pto-run --case two.yaml:c
says '^note: case `b`$'
ends 0 pto-run --case two.yaml:a
ends 1 pto-run --case two.yaml
says '^two.yaml:b:$' out
says '^y: ok, max abs error 6, max rel error 2, 4 elements, rule tolerance$' out
says '^y: DIFFERS' out
for option in --out=y=y.npy --in=x=x.npy --data-dir=d --report=r; do
  fails 2 "error: \[E1504\] option .* is for one case, and the file has several$" pto-run --case two.yaml "$option"
  says '^note: name one, as --case two.yaml:a$'
done
fails 2 'error: \[E1504\] a module is given for one case, and the file has several$' pto-run --case two.yaml f.ptir
sed 's/^cases:/outputs: { y: { expect: x.npy, rule: tolerance, atol: 8 } }/; /^  [ab]:/d' two.yaml >one.yaml
ends 0 pto-run --case one.yaml
fails 2 'one.yaml: error: \[E1505\] the file has one case, which has no name of its own, not `a`$' pto-run --case one.yaml:a
# An empty list of cases, a key that neither place has, a tolerance for a rule that has its own.
sed 's/^module: .*//' two.yaml >without.yaml
fails 2 'without.yaml:8:6: error: \[E1031\] the key `module` is missing here and at the top of the file$' pto-run --case without.yaml:a
sed 's/rule: tolerance/rule: bf16-out/' two.yaml >rule.yaml
fails 2 'rule.yaml:8:61: error: \[E1036\] `atol` is of rule `tolerance`; the rule here is `bf16-out`$' pto-run --case rule.yaml:a

# 2: what the user typed, or a file that it names.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 2 pto-opt
wants 2 pto-opt --no-such-option good.ptir
wants 2 pto-opt absent.ptir
wants 2 pto-opt folder/
wants 2 pto-opt good.ptir --pipeline=absent.yaml
wants 2 pto-opt good.ptir --pipeline=wrong.yaml
wants 2 pto-opt good.ptir --pipeline=p.yaml --machine=absent
wants 2 pto-opt good.ptir --pipeline=p.yaml --set canonicalize.with.x=1
wants 2 pto-opt good.ptir --pipeline=p.yaml --until=nowhere
wants 2 pto-opt good.ptir --passes=pto.allocate
wants 2 pto-opt --print-schema=tables
wants 2 pto-run good.ptir --in x=absent.npy
wants 2 $run --in x=absent.npy
wants 2 $run --in x=x.npy --expect a=absent.npy
wants 2 pto-inspect nothing

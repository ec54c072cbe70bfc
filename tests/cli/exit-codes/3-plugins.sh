# 3: plugins that are not there.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 3 pto-opt good.ptir --passes=pto.no-such-pass
wants 3 pto-opt good.ptir --plugin=x.npy
wants 3 pto-opt good.ptir --pipeline=p.yaml --plugin-path=absent
wants 3 $run --in x=x.npy --backend=pto.no-such-backend

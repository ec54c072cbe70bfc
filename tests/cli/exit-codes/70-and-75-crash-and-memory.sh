# 70: a crash. 75: memory ran out. More of both is in dying-plugins.sh and limits.sh of pto-opt.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 70 pto-opt good.ptir $(liar dies)
if ! is_sanitized; then
  wants 75 sh -c "ulimit -v 300000; pto-opt good.ptir $(liar dies){way=scratch}"
fi

# Products of the examples are calls of kernels, over all of k where a loop does nothing else; no loop stays for another
# reason, which a remark would tell.
. "$TEST_ROOT/tests/shell.sh"
# EXAMPLE WHOLE PART: how many of each there are.
bound() {
  ends 0 pto-opt "$TEST_ROOT/examples/$1.ptir" --pipeline=native.yaml --machine=cpu-avx2 --stats --remarks=remarks -o x.c
  says "^ *$2  products over all of k\$"
  says "^ *$3  products of one iteration of a loop\$"
  says '^ *0  products left as they were$'
  if grep 'pto.bind-products/' remarks >text; then complain "$1 has loops or types that are not bound"; fi
}
bound gemm/gemm 1 0
bound gemm/turned 1 0
bound gemm/int8 1 0
bound gemm_residual/gemm_residual 1 0
bound ffn/swiglu 3 0
bound ffn_int8/ffn_int8 2 0
bound conv2d/conv2d 1 1
bound attention/attention 2 6
bound moe_layer/moe_layer 2 0
bound ragged_expert/ragged_expert 3 0
# What is bound computes what was there before, at extents of 0 too.
ends 0 pto-opt "$TEST_ROOT/examples/gemm/turned.ptir" --pipeline=native.yaml --check=semantics -o x.c
says 'K = 0'

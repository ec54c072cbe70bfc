# Kernels with more instructions, or more pairs that touch the same bytes, than are looked at.
set -e
. "$TEST_ROOT/tests/shell.sh"
kernel() { # LOADS-AND-STORES BUFFERS
  /usr/bin/python3 - "$1" "$2" <<'END'
import sys

count, buffers = map(int, sys.argv[1:])
print("block.kernel @k core(vector) grid(%core: 1) reads(%x) writes(%y) (%x: gm<64 x 16 x f32>, inout %y: gm<64 x 16 x f32>) {")
for i in range(buffers):
    print(f"  %b{i} = block.buffer {{space = vec, bytes_per_stage = 512, addr = {512 * i}}} : buffer")
    print(f"  %t{i} = block.tile %b{i}[0] valid(8, 16) : tile<8 x 16 x f32, vec, nd>")
for i in range(count):
    print(f"  pto.tload %t{i % buffers}, %x[0, 0]\n  pto.tstore %y[0, 0], %t{i % buffers}")
print("}")
END
}
refused() {
  status=0
  pto-opt in.ptir --passes=pto.synchronize --machine=ascend-910b >/dev/null 2>errors || status=$?
  [ $status -eq 5 ] || fail "exit status $status"
  grep -q "in.ptir:1:1: error: \[pto.synchronize/too-large\] $1" errors || fail
}
kernel 800 1 >in.ptir
refused 'more than 1048576 pairs of the 1600 instructions of the kernel touch the same bytes'
kernel 2100 300 >in.ptir
refused 'the kernel has 4200 instructions, the most that are looked at are 4096'
kernel 100 10 >in.ptir
pto-opt in.ptir --passes=pto.synchronize --machine=ascend-910b --verify=each >/dev/null

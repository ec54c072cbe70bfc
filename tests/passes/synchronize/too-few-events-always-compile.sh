# Loops side by side, more of them than a pair of pipes has events, with and without a loop around: they compile without
# a barrier and run without a race. A loop in a loop needs two tokens of a pair of pipes: with one event a barrier
# stands in for the other.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'END'
import sys

count, stages, is_nested = map(int, sys.argv[1:])
types = "%x: gm<$B x 16 x f32>, inout %y: gm<256 x 16 x f32>"
print(f"func @f({types}) {{\n  exec.launch @k args(%x, %y)\n  return\n}}")
print(f"block.kernel @k core(vector) grid(%core: 1) reads(%x, %y) writes(%y) ({types}) {{")
for i in range(count):
    print(f"  %b{i} = block.buffer {{space = vec, bytes_per_stage = 512, stages = {stages}, addr = {512 * stages * i}}} : buffer")
print("  for %w to 2 {" if is_nested else "")
for i in range(count):
    print(f"""  for %t to $B floordiv 8 {{
    %s = block.tile %b{i}[%t mod {stages}] valid(8, 16) : tile<8 x 16 x f32, vec, nd>
    pto.tload %s, %x[8 * %t, 0]
    pto.tabs %s, %s
    pto.tstore %y[8 * (%t mod 4) + {8 * i}, 0], %s
  }}""")
print("  }\n}" if is_nested else "}")
END
sed 's/^  event-ids: 8/  event-ids: 1/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >one-event.yaml
cat >nested.ptir <<'END'
func @f(%x: gm<$B x 16 x f32>, inout %y: gm<256 x 16 x f32>) {
  exec.launch @k args(%x, %y)
  return
}
block.kernel @k core(vector) grid(%core: 1) reads(%x, %y) writes(%y) (%x: gm<$B x 16 x f32>, inout %y: gm<256 x 16 x f32>) {
  %b = block.buffer {space = vec, bytes_per_stage = 512, addr = 0} : buffer
  %c = block.buffer {space = vec, bytes_per_stage = 512, addr = 512} : buffer
  for %i to 3 {
    %s = block.tile %b[0] valid(8, 16) : tile<8 x 16 x f32, vec, nd>
    %t = block.tile %c[0] valid(8, 16) : tile<8 x 16 x f32, vec, nd>
    pto.tload %s, %y[8 * %i, 0]
    for %j to $B floordiv 8 {
      pto.tload %t, %x[8 * %j, 0]
      pto.tstore %y[8 * (%j mod 4) + 32, 0], %t
    }
    pto.tstore %y[8 * %i, 0], %s
  }
}
END
try() { # MACHINE FILE
  pto-opt "$2" --passes=pto.synchronize --machine="$1" --verify=each >out.ptir
  for rows in 0 8 40; do
    pto-run out.ptir --pipeline="$TEST_ROOT/tests/backends/cpu-sim/inputs/exec.yaml" --machine="$1" --sym B=$rows --random-inputs 1 >/dev/null 2>errors ||
      fail "$*, $rows rows"
  done
}
for nested in 0 1; do
  for count in 8 9 20; do
    for stages in 1 2; do
      /usr/bin/python3 make.py $count $stages $nested >loops.ptir
      try ascend-910b loops.ptir
      if grep -q pto.barrier out.ptir; then echo "$count loops of $stages stages: a barrier"; exit 1; fi
    done
  done
  try one-event.yaml loops.ptir
done
try ascend-910b nested.ptir
if grep -q pto.barrier out.ptir; then echo "nested loops: a barrier"; exit 1; fi
try one-event.yaml nested.ptir
grep -q 'pto.barrier all' out.ptir

# --time-limit in the middle of what takes long: passes ask whether to go on at the heads of their long loops, so that
# they end soon after the limit by themselves, with status 75, the step and its line, and no output.
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'EOF'
import sys

what, n = sys.argv[1], int(sys.argv[2])
rows = n if what == "rows" else 64
tile = "tile<1 x 8 x f32, vec, nd>" if what == "rows" else "tile<16 x 64 x f32, vec, nd>"
columns = 8 if what == "rows" else 64
ops = []
for i in range(n):
    at, size = (f"[{i}, 0]", "(1, 8)") if what == "rows" else ("[16 * %i, 0]", "(16, 64)")
    if what == "loops":
        ops.append(f"  for %j{i} to 4 {{")
    ops += [f"  %a{i} = tile.load %x{at} size{size} : {tile}", f"  %b{i} = tile.exp %a{i} : {tile}", f"  tile.store %b{i}, %y{at}"]
    if what == "loops":
        ops.append("  }")
if what == "loop":
    ops = ["  for %j to 4 {", *ops, "  }"]
parameters = f"%x: gm<{rows} x {columns} x f32>, inout %y: gm<{rows} x {columns} x f32>"
if what == "graph":
    t = "tensor<256 x 512 x f32>"
    adds = "".join(f"  %y{i + 1} = tensor.add %y{i}, %x : {t}\n" for i in range(n))
    print(f"func @f(%x: {t}, %y0: {t}) -> {t} {{\n{adds}  return %y{n}\n}}")
else:
    print(f"func @f({parameters}) {{\n  block.launch @k args(%x, %y)\n  return\n}}")
    print(f"block.kernel @k core(vector) grid(%i: 4) reads(%x) writes(%y) ({parameters}) {{")
    print("\n".join(ops) + "\n}")
EOF
# stops STEP PIPELINE...: in.ptir. The limit has to come after the reading, which takes as long as it does on this
# machine.
stops() {
  step=$1
  shift
  # A run that the limit did not stop leaves its output, which is not the last run's.
  # shellcheck disable=SC2016
  exits 75 reaches "ran out in plugin .*step .$step." sh -c 'rm -f out.ptir; exec "$@"' sh pto-opt in.ptir "$@" \
    --machine=ascend-910b -o out.ptir >err || { complain "$step"; return; }
  tail -n 1 err | grep -q "^pto-opt: the time limit of [0-9.]* s ran out in plugin .*step \`$step\`" ||
    complain "$step: it says $(tail -n 1 err)"
  # The supervisor kills after two seconds.
  if grep -q killed err; then complain "$step: did not stop by itself"; fi
  grep -q 'error: \[E1711\] the time ran out' err || complain "$step"
  [ ! -e out.ptir ] || complain "$step: left out.ptir"
}
# made WHAT N: made.ptir; with sanitizers less of it takes as long.
less=1
if is_sanitized; then less=4; fi
made() { /usr/bin/python3 make.py "$1" $(($2 / less)) >made.ptir; }
# prepared WHAT N PASSES: in.ptir, as passes that nobody limits leave it.
prepared() {
  made "$1" "$2" && pto-opt made.ptir --machine=ascend-910b --verify=off "--passes=$3" -o in.ptir || exit 1
}
made straight 25000 && mv made.ptir in.ptir && stops select --passes=pto.select
prepared loops 4000 pto.select && stops order --passes=pto.order
prepared loop 40000 pto.select && stops allocate --passes=pto.allocate
prepared rows 1300 'pto.select,pto.allocate{reuse=never}' && stops synchronize --passes=pto.synchronize
# Where it is then depends on the machine: any step of the pipeline answers.
made graph 200000 && mv made.ptir in.ptir && stops '[a-z0-9-]*' --pipeline=default.yaml

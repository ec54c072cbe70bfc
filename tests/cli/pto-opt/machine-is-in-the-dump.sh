# From the first step that asked the machine description on, changed or not, every dump names the machine; a pipeline
# for another machine refuses it with both names, and one without a machine takes it.
. "$TEST_ROOT/tests/shell.sh"
module=$TEST_ROOT/examples/softmax/softmax.ptir
compile() { pto-opt "$module" --pipeline=default.yaml "$@"; }
compile --until=decompose-rms-norm -o before.ptir && compile --until=legalize-types -o after.ptir && compile --until=tile -o tiled.ptir || exit 1
grep -q machine before.ptir && fail "a dump names a machine before any step asked it"
for dump in after tiled; do
  [ "$(head -n 1 $dump.ptir)" = 'module {machine = "ascend-910b"} {' ] || fail "$dump.ptir begins with $(head -n 1 $dump.ptir)"
  [ "$(grep -c machine $dump.ptir)" -eq 1 ] || fail "$dump.ptir names the machine more than once"
done
# The step changed nothing else.
{ echo 'module {machine = "ascend-910b"} {'; sed 's/^/  /' before.ptir; echo '}'; } | pto-opt - | cmp - after.ptir || exit 1

pto-opt before.ptir --pipeline=default.yaml --machine=cpu-generic --from=legalize-types -o cpu.ptir || fail "a dump of no machine was refused"
[ "$(head -n 1 cpu.ptir)" = 'module {machine = "cpu-generic"} {' ] || fail "cpu.ptir begins with $(head -n 1 cpu.ptir)"
fails 2 '^tiled.ptir:1:8: error: \[E1709\] the module was compiled for machine ascend-910b, the pipeline is for cpu-generic$' \
  pto-opt tiled.ptir --pipeline=default.yaml --machine=cpu-generic --from=bufferize -o no.ptir
[ ! -e no.ptir ] || fail "a refused dump left an output"
pto-run tiled.ptir --pipeline=reference.yaml --sym B=3 --random-inputs 1 >run.txt || fail "the reference pipeline refused it"

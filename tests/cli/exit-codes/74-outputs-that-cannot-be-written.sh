# 74: no folder, a folder in the way, a full device, a file that may not grow; nothing half-made is left.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 74 pto-opt good.ptir -o absent/out.ptir
wants 74 pto-opt good.ptir -o folder
wants 74 sh -c 'pto-opt good.ptir >/dev/full'
wants 74 sh -c 'pto-opt --pipeline=p.yaml --explain >/dev/full'
wants 74 pto-opt good.ptir --pipeline=p.yaml -o /dev/full
wants 74 pto-opt good.ptir --pipeline=p.yaml --dump-dir=absent/dump
wants 74 pto-opt good.ptir --pipeline=p.yaml --dump-dir=good.ptir
wants 74 pto-opt good.ptir --pipeline=p.yaml --remarks=absent/remarks
wants 74 $run --in x=x.npy --out a=absent/a.npy
wants 74 $run --in x=x.npy --report=absent/report
wants 74 $run --in x=x.npy --report=good.ptir
wants 74 sh -c "$run --in x=x.npy --expect a=y.npy >/dev/full"
wants 74 sh -c 'pto-inspect errors >/dev/full'
for answer in 'pto-opt --help' 'pto-opt --version' 'pto-opt --print-schema=pipeline' 'pto-opt --pipeline=p.yaml --print-pipeline' \
  'pto-opt good.ptir --no-supervise' 'pto-run --help' 'pto-inspect --version' 'pto-plugin --help'; do
  wants 74 sh -c "$answer >/dev/full"
done
# A file that may not grow beyond 512 bytes.
{ for i in 1 2 3 4 5 6 7 8 9; do sed "s/@f/@f$i/" good.ptir; done; } >long.ptir
wants 74 sh -c 'ulimit -f 1; pto-opt long.ptir -o folder/out.ptir'
wants 74 sh -c 'ulimit -f 1; pto-opt long.ptir >long.out'
wants 74 sh -c 'ulimit -f 1; pto-opt long.ptir --pipeline=p.yaml --dump-dir=long.dumps'
[ -z "$(ls long.dumps)" ] || fail "left: $(ls long.dumps)"
[ "$(echo folder/*)" = 'folder/*' ] || fail "left: $(echo folder/*)"
for left in good.ptir.*; do
  [ ! -e "$left" ] || fail "left: $left"
done

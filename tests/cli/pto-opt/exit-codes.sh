# One run for each kind of failure and its exit status; 128 + n is in signals.sh, crashes and memory in dying-plugins.sh.
. "$TEST_ROOT/tests/shell.sh"
cat >good.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  return %a
}
END
echo 'func @f(' >syntax.ptir
cat >type.ptir <<'END'
func @f(%x: tensor<4 x i32>) -> tensor<4 x i32> {
  %a = tensor.exp %x : tensor<4 x i32>
  return %a
}
END
printf 'pto-pipeline: 1\npasses:\n  - pto.canonicalize\nbackend: { use: pto.reference }\n' >p.yaml
printf 'pto-pipeline: 1\npases: []\n' >wrong.yaml
mkdir folder
/usr/bin/python3 - <<'END'
import numpy as np
x = np.array([1, 2, 3, 4], np.float32)
np.save("x.npy", x)
np.save("y.npy", -x)
np.save("z.npy", -x + np.float32([0, 0, 1e-6, 0]))
np.save("d.npy", x.astype(np.float64))
np.save("three.npy", x[:3])
np.save("bits.npy", np.zeros(4, np.uint8))
END
head -c 100 x.npy >short.npy
liar() { echo "--plugin=$TEST_PLUGINS/liar-$1.so --passes=test.liar-$1"; }
wanted=0
wants() { # STATUS COMMAND...
  wanted=$1
  shift
  "$@" >out 2>text
  got=$?
  [ $got -eq "$wanted" ] || fail "wanted $wanted, got $got: $*"
  # Every failure says why; success is silent.
  if [ $got -gt 1 ]; then grep -q 'error:' text || fail "status $got without an error: $*"; else [ ! -s text ] || fail; fi
}
run='pto-run good.ptir --pipeline=p.yaml'

wants 0 pto-opt good.ptir
wants 0 pto-opt good.ptir --pipeline=p.yaml
wants 0 $run --in x=x.npy --expect a=y.npy
wants 0 $run --in x=x.npy --expect a=z.npy --rtol 1e-6
wants 0 pto-inspect errors

# 1: no tolerance is exact.
wants 1 $run --in x=x.npy --expect a=z.npy
wants 1 $run --in x=x.npy --expect a=x.npy

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

wants 3 pto-opt good.ptir --passes=pto.no-such-pass
wants 3 pto-opt good.ptir --plugin=x.npy
wants 3 pto-opt good.ptir --pipeline=p.yaml --plugin-path=absent
wants 3 $run --in x=x.npy --backend=pto.no-such-backend

wants 4 pto-opt syntax.ptir
wants 4 pto-opt type.ptir
wants 4 pto-opt x.npy
wants 4 $run --in x=short.npy
wants 4 $run --in x=good.ptir
wants 4 $run --in x=d.npy
wants 4 $run --in x=three.npy
wants 4 $run
wants 4 $run --in x=x.npy --in y=x.npy
wants 4 $run --in x=x.npy --expect a=short.npy
wants 4 $run --in x=x.npy --expect a=three.npy
wants 4 $run --in x=x.npy --expect a=bits.npy
wants 4 $run --in x=x.npy --expect nothing=y.npy
wants 4 $run --in x=x.npy --entry=g

wants 5 pto-opt good.ptir $(liar silent)
wants 5 pto-opt good.ptir $(liar uses-erased)
cat >two.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  %b = tensor.exp %a : tensor<4 x f32>
  return %b
}
END
wants 6 pto-opt two.ptir $(liar breaks-order)

# 70 and 75: a crash, and memory.
wants 70 pto-opt good.ptir $(liar dies)
if ! is_sanitized; then
  wants 75 sh -c "ulimit -v 300000; pto-opt good.ptir $(liar dies){way=scratch}"
fi

# 74: no folder, a folder in the way, a full device.
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

# What the scripts of this folder run on: modules good and bad, pipelines, tensors; and how they check a status.
# shellcheck disable=SC2034
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

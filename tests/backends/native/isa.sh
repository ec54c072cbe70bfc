# A machine with wider vectors than there are instructions for: computed in parts, with a warning, and the same bits
# where no product is rounded otherwise. Instructions that this CPU lacks are refused, and never run.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<5 x 300 x f32>) -> tensor<5 x 300 x f32> {
  %m = tensor.reduce_max %x {axis = 1} : tensor<5 x 1 x f32>
  %d = tensor.sub %x, %m : tensor<5 x 300 x f32>
  %s = tensor.sqrt %x : tensor<5 x 300 x f32>
  %y = tensor.maximum %d, %s : tensor<5 x 300 x f32>
  return %y
}
END
cat >g.ptir <<'END'
func @g(%x: tensor<33 x 70 x f32>, %w: tensor<70 x 50 x f32>) -> tensor<33 x 50 x f32> {
  %e = tensor.softmax %x : tensor<33 x 70 x f32>
  %y = tensor.matmul %e, %w : tensor<33 x 50 x f32>
  return %y
}
END
native() { # MACHINE ISA FILE OPTION..
  run_machine=$1 run_isa=$2 run_file=$3
  shift 3
  ends 0 pto-run "$run_file.ptir" --pipeline=native.yaml --machine="$run_machine.yaml" --set=backend.with.isa="$run_isa" --random-inputs=2 "$@"
}
ends 0 pto-run g.ptir --backend=pto.reference --random-inputs=2 --out=y=want.npy
for machine in cpu-generic:16 cpu-avx2:32 cpu-avx512:64; do
  width=${machine#*:} machine=${machine%:*}
  native "$machine" plain f --out=y="$machine.npy"
  if [ "$width" -gt 16 ]; then
    says "^f.ptir:1:1: warning: \[pto.native/machine\] the machine has vectors of $width bytes, and there are instructions for 16: each is computed in parts"
  else
    [ ! -s text ] || fail 'it has something to say'
  fi
  cmp -s cpu-generic.npy "$machine.npy" || complain "$machine computes other bits"
  native "$machine" plain g --expect=y=want.npy --rtol=1e-4 --atol=1e-6
  says '^y: ok' out
done
# A width that no CPU has is computed by instructions for another one, which is said too.
for width in 8:'16 at least: they are computed as such' 48:'16: each is computed in parts' 96:'16: each is computed in parts'; do
  sed "s/^  repeat-bytes: 16 /  repeat-bytes: ${width%%:*} /" "$TEST_ROOT/pipelines/machines/cpu-generic.yaml" >odd.yaml
  native ./odd plain f --out=y=odd.npy
  says "^f.ptir:1:1: warning: \[pto.native/machine\] the machine has vectors of ${width%%:*} bytes, and there are instructions for ${width#*:} \[@f\]$"
  cmp -s cpu-generic.npy odd.npy || complain "vectors of ${width%%:*} bytes compute other bits"
done
# The widest that this CPU has, by the same words as pto.native; narrower ones are there too, wider ones are refused.
widest=plain
sed 's/^  repeat-bytes: 64 /  repeat-bytes: 48 /' "$TEST_ROOT/pipelines/machines/cpu-avx512.yaml" >odd.yaml
for isa in avx2 avx512; do
  exits 0 pto-run f.ptir --pipeline=native.yaml --machine=cpu-avx512.yaml --set=backend.with.isa=$isa --random-inputs=2 --out=y=$isa.npy >out 2>text &&
    widest=$isa || break
  cmp -s cpu-generic.npy $isa.npy || complain "$isa computes other bits"
  native ./odd $isa f
  says 'the machine has vectors of 48 bytes, and there are instructions for 32: each is computed in parts \[@f\]$'
  native cpu-avx512 $isa g --expect=y=want.npy --rtol=1e-4 --atol=1e-6
done
case $widest in
avx512) [ ! -s text ] || fail 'vectors of 64 bytes have instructions' ;;
*) says "^f.ptir:1:1: error: \[pto.native/machine\] option .isa. is .$isa., and this CPU has instructions for vectors of [0-9]* bytes at most" ;;
esac
fails 2 'option `isa` of backend `pto.native` cannot be `sve`' \
  pto-run f.ptir --pipeline=native.yaml --set=backend.with.isa=sve --random-inputs=2

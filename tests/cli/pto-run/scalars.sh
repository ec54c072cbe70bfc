# Scalars and indices as inputs: numbers on the command line, in a case, from a file of rank 0, or random; on both
# backends. What does not fit the type is refused where it was given. A tensor of `index` travels as i64.
. "$TEST_ROOT/tests/shell.sh"
cat >s.ptir <<'END'
func @f(%x: tensor<4 x index>, %n: index, %s: f32, %b: bool, %u: u64, %h: f16) -> (tensor<4 x index>, tensor<4 x f32>) {
  %c = tensor.index_cast from(2 * %n) : tensor<4 x f32>
  return %x, %c
}
END
sed 's/  %e = constant.*//; s/%e/%s/; s/out %z: gm<$R x 64 x f32>) where/out %z: gm<$R x 64 x f32>, %s: f32) where/' \
  "$TEST_ROOT/tests/backends/cpu-sim/inputs/chain.ptir" >chain.ptir
/usr/bin/python3 -c "
import numpy as n
n.save('x.npy', n.array([1, 2, -3, 1 << 40]))
n.save('n.npy', n.int64(21))
n.save('r.npy', n.full((8, 64), 2, 'f4')); n.save('want.npy', n.full((8, 64), 0.5, 'f4'))
n.save('i4.npy', n.zeros(4, 'i4'))"
run='pto-run s.ptir --backend=pto.reference'
holds() { /usr/bin/python3 -c "import numpy as n, sys; a = n.load(sys.argv[1]); assert eval(sys.argv[2]), a" "$1" "$2" || exit 1; }

$run --in x=x.npy --in n=21 --in s=-0.5 --in b=true --in u=18446744073709551615 --in h=0.1 --out x=o.npy --out c=c.npy >out 2>text || fail run
holds c.npy '(a == 42).all()'
holds o.npy 'a.dtype == "i8" and (a == [1, 2, -3, 1 << 40]).all()'
$run --random-inputs=1 --in n=n.npy --out c=c.npy >out 2>text || fail npy
holds c.npy '(a == 42).all()'
$run --random-inputs=3 --out x=o.npy >out 2>text || fail random
holds o.npy '(a >= 0).all() and (a < 16).all()'
for pipeline in --backend=pto.reference --pipeline="$TEST_ROOT/tests/backends/cpu-sim/inputs/exec.yaml"; do
  pto-run chain.ptir "$pipeline" --in x=r.npy --in u=r.npy --in s=0.5 --out z=z.npy --expect y=want.npy >out 2>text || fail "$pipeline"
  holds z.npy '(a == 1).all()'
  pto-run chain.ptir "$pipeline" --random-inputs=1 --sym R=8 >out 2>text || fail "$pipeline"
done

refused() { # TEXT OPTION..
  text=$1
  shift
  refuses 4 "$text" $run --random-inputs=1 "$@"
}
fits() { echo "pto-run: error: [E1609] \`$1\` is of type $2, which \`$3\` does not fit: it takes $4"; }
refused "$(fits n index 1.5 'whole numbers from -9223372036854775808 to 9223372036854775807')" --in n=1.5
refused "$(fits u u64 -1 'whole numbers from 0 to 18446744073709551615')" --in u=-1
refused "$(fits u u64 18446744073709551616 'whole numbers from 0 to 18446744073709551615')" --in u=18446744073709551616
refused "$(fits s f32 true 'numbers of magnitude up to 3.40282347e+38')" --in s=true
refused "$(fits h f16 65520 'numbers of magnitude up to 65504')" --in h=65520
refused "$(fits b bool 2 'true, false, 1 or 0')" --in b=2
refused 'pto-run: error: [E1609] `x` is a tensor, of which `7` is not a value' --in x=7
refused 'pto-run: error: [E1605] the function has no input `q`' --in q=1
refused 'i4.npy: error: [E1603] `x` needs elements of type index, the file has <i4' --in x=i4.npy
grep -qx 'note: index is stored as <i8' text || fail "note of index"
refused 'x.npy: error: [E1603] `n` needs rank 0, the file has rank 1' --in n=x.npy
fails 4 '^note: give it with --in s=VALUE, or all with --random-inputs SEED$' $run --in x=x.npy --in n=1
cp x.npy 7 && $run --random-inputs=1 --in x=./7 --out x=o.npy >out 2>text || fail ./7

# A case.
cat >case.yaml <<'END'
pto-case: 1
name: scalars
module: chain.ptir
sizes: { small: { R: 8 } }
inputs: { x: r.npy, u: r.npy, s: 0.5 }
outputs: { y: { expect: want.npy, rule: f32-elementwise } }
END
case='pto-run --case case.yaml --backend=pto.reference --data-dir=.'
$case >out 2>text || fail case
sed -i 's/s: 0.5/s: 1e99/' case.yaml
fails 4 '^case.yaml:5:34: error: \[E1609\] `s` is of type f32, which `1e99` does not fit: .*$' $case

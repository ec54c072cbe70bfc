# Outputs that hold by right what they held before the call, as inputs may hold any bits, are not taken for ones that
# nobody wrote; what the call changed, it changed once, and what it prints is printed once.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'END' || exit 1
import numpy as np

TYPES = {"f32": ("<u4", 0x7FA00000, 0x1FFFFF, "<f4"), "i32": ("<u4", 0, 0xFFFFFFFF, "<i4"),
         "u16": ("<u2", 0, 0xFFFF, "<u2"), "i8": ("u1", 0, 0xFF, "i1")}
for name, (bits, fixed, random, npy) in TYPES.items():
    with np.errstate(over="ignore"):
        z = np.arange(1, 8 * 37 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    held = (z ^ (z >> np.uint64(31))).view(bits)[:8 * 37] & random | fixed
    np.save(f"{name}.npy", held.astype(bits).view(npy).reshape(8, 37))
    with open(f"{name}.ptir", "w") as file:
        file.write(f"func @f(%x: tensor<8 x 37 x {name}>) -> tensor<296 x {name}> {{\n"
                   f"  %y = tensor.reshape %x : tensor<296 x {name}>\n  return %y\n}}\n")
x = np.full((16, 24), 0x7FA5, np.uint16)
np.savez("turned.npz", x=x, y=np.ascontiguousarray(x.T), c=np.arange(8, dtype=np.float32),
         d=np.arange(8, dtype=np.float32) + 1)
END
# The bits that each element of an output held.
for type in f32 i32 u16 i8; do
  ends 0 pto-run $type.ptir --pipeline=native.yaml --in=x=$type.npy --out=y=out.npy
  tail -c 296 $type.npy >in.bytes
  tail -c 296 out.npy >out.bytes
  cmp -s in.bytes out.bytes || fail "$type: bits that moved are other ones"
done
cat >turned.ptir <<'END'
func @f(inout %c: tensor<8 x f32>, %x: tensor<16 x 24 x bf16>) -> (tensor<8 x f32> aliases %c, tensor<24 x 16 x bf16>) {
  %one = tensor.constant {value = 1.0} : tensor<8 x f32>
  %d = tensor.add %c, %one : tensor<8 x f32>
  %y = tensor.transpose %x {perm = [1, 0]} : tensor<24 x 16 x bf16>
  debug.print %y {label = "turned"}
  return %d, %y
}
END
ends 0 pto-run turned.ptir --pipeline=native.yaml --in=x=turned.npz:x --in=c=turned.npz:c --expect=c=turned.npz:d \
  --out=y=y.npy
[ "$(grep -c 'debug.print. turned' text)" -eq 1 ] || fail 'what is printed is not printed once'
/usr/bin/python3 - <<'END' || fail 'elements of the transpose are other ones'
import numpy as np
assert (np.load("y.npy").view(np.uint16) == 0x7FA5).all()
END

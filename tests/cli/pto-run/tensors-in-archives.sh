# .npz (stored and deflated) and .safetensors are read and written like .npy: numpy reads what is written and pto-run
# what numpy writes; .safetensors is checked by its published description. Names follow a colon; resources too.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>, %b: tensor<2 x 3 x bf16>) -> (tensor<$n x f32>, tensor<2 x 3 x bf16>) {
  %y = tensor.neg %x : tensor<$n x f32>
  %c = tensor.neg %b : tensor<2 x 3 x bf16>
  return %y, %c
}
END
cat >safetensors_file.py <<'END'
"""By the description of the format, with only numpy and json."""
import json, struct
import numpy as np


def save(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    file = open(path, "rb").read()
    n, = struct.unpack("<Q", file[:8])
    types = {"F32": np.float32, "BF16": np.uint16, "I64": np.int64}
    data, header = file[8 + n:], json.loads(file[8:8 + n])
    assert max(t["data_offsets"][1] for t in header.values()) == len(data)
    return {k: (t["dtype"], np.frombuffer(data[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])) for k, t in header.items()}
END
cat >make.py <<'END'
import numpy as np
from safetensors_file import save
x = np.arange(5, dtype=np.float32)
b = (np.arange(6, dtype=np.float32).reshape(2, 3).view(np.uint32) >> 16).astype(np.uint16)
np.savez("stored.npz", x=x, b=b, **{"layer.0/w": x})
np.savez_compressed("deflated.npz", x=x, b=b)
save("all.safetensors", {"layer.0.w": ("F32", x), "b": ("BF16", b), "empty": ("I64", np.zeros((0, 3), np.int64))})
save("one.safetensors", {"x": ("F32", x)})
np.save("y.npy", -x)
END
/usr/bin/python3 -B make.py
run() { ends 0 pto-run f.ptir --backend=pto.reference "$@"; }
run --in=x=stored.npz:x --in=b=stored.npz:b --expect=y=y.npy --out=y=out.npz --out=c=out.npz:minus
says '^y: ok' out
run --in=x=deflated.npz:x --in=b=deflated.npz:b --expect=y=y.npy
says '^y: ok' out
run --in=x=stored.npz:layer.0/w --in=b=all.safetensors:b --out=y=out.safetensors:a\"b --out=c=out.safetensors
run --in=x=one.safetensors --in=b=all.safetensors:b --expect=y=out.npz:y --expect=c=out.safetensors:c --out=c=c.npz
says '^c: ok, max abs error 0,' out
says '^y: ok, max abs error 0,' out
cat >check.py <<'END'
import numpy as np, zipfile
from safetensors_file import load
out = np.load("out.npz")
assert zipfile.ZipFile("out.npz").testzip() is None
assert sorted(out) == ["minus", "y"]
assert (out["y"] == np.load("y.npy")).all() and out["minus"].dtype == np.uint16 and out["minus"].shape == (2, 3)
tensors = load("out.safetensors")
assert list(tensors) == ['a"b', "c"]
kind, y = tensors['a"b']
assert kind == "F32" and (y == np.load("y.npy")).all()
kind, c = tensors["c"]
assert kind == "BF16" and (c == out["minus"]).all()
END
/usr/bin/python3 -B check.py

# A tensor is of the type that its archive names; numpy's files leave it to the parameter.
fails 4 'all.safetensors:b: error: \[E1603\] `x` needs elements of type f32, the file has BF16' pto-run f.ptir --backend=pto.reference --in=x=all.safetensors:b --in=b=stored.npz:b
# One file for two outputs of one name.
fails 2 'error: \[E1509\] --out and --out both name `o.npz`' pto-run f.ptir --backend=pto.reference --in=x=stored.npz:x --in=b=stored.npz:b --out=y=o.npz:a --out=c=o.npz:a

# Resources are mapped, so a deflated one is refused.
cat >r.ptir <<'END'
func @a() -> tensor<5 x f32> {
  %w = tensor.constant {value = resource("all.safetensors:layer.0.w")} : tensor<5 x f32>
  %y = tensor.neg %w : tensor<5 x f32>
  return %y
}
func @b() -> tensor<2 x 3 x bf16> {
  %w = tensor.constant {value = resource("stored.npz:b")} : tensor<2 x 3 x bf16>
  return %w
}
func @c() -> tensor<5 x f32> {
  %w = tensor.constant {value = resource("deflated.npz:x")} : tensor<5 x f32>
  return %w
}
func @d() -> tensor<5 x f32> {
  %w = tensor.constant {value = resource("stored.npz")} : tensor<5 x f32>
  return %w
}
END
for way in --backend=pto.reference --pipeline=default.yaml; do
  ends 0 pto-run "$way" r.ptir --entry=a --expect=y=y.npy
  says '^y: ok' out
done
fails 5 'deflated.npz:x is deflated, which resources are not: write it with numpy.savez' pto-run --backend=pto.reference r.ptir --entry=c
fails 5 'stored.npz: the file has 3 tensors, and none of them is named; it has `x`, `b`, `layer.0/w`; write the name' pto-run --backend=pto.reference r.ptir --entry=d
ends 0 pto-run --backend=pto.reference r.ptir --entry=b --expect=w=all.safetensors:b
says '^w: ok' out

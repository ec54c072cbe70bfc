# Files that are cut off or damaged are read or refused: nothing crashes, hangs or is a defect of the reader.
. "$TEST_ROOT/tests/shell.sh"
ends 0 pto-opt "$TEST_ROOT/examples/gemm/gemm.ptir" --pipeline=ascend.yaml \
  --set='backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o tree/
cat >mutate.py <<'END'
import random
import subprocess
import sys

seed, count, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
rng = random.Random(seed)
texts = [open(f, "rb").read() for f in files]
pieces = [b"%", b"<", b">", b"{", b"}", b"(", b")", b"[", b"]", b"-1", b"99999999999999999999", b"9223372036854775807", b"!pto.ptr<f32>",
          b"index", b"pto.treshape", b"scf.for", b"scf.if", b"func.call", b"pto.tpop_from_aic", b"arith.muli", b"0", b",", b":", b"=", b"->", b"\n", b"\xff", b"#", b"@", b'"']
words = [w for t in texts for w in t.split()]
outcomes = {}
for i in range(count):
    text = bytearray(rng.choice(texts))
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, to = rng.randrange(len(text) + 1), rng.randrange(1, 40)
        what = rng.randrange(4)
        if what == 0:
            del text[at:]
        elif what == 1:
            text[at:at] = rng.choice(pieces)
        elif what == 2:
            text[at : at + to] = rng.choice(words)
        else:
            del text[at : at + to]
    with open("m.pto", "wb") as f:
        f.write(text)
    r = subprocess.run(["pto-opt", "m.pto", "-o", "m.ptir"], capture_output=True, timeout=60)
    said = r.stderr.decode("utf-8", "replace")
    outcomes[r.returncode] = outcomes.get(r.returncode, 0) + 1
    if r.returncode not in (0, 4) or "E132" in said or (r.returncode == 4 and "error: " not in said):
        sys.exit(f"seed {seed}, file {i}: status {r.returncode}\n{said}")
print(outcomes)
END
is_sanitized && count=40 || count=400
cat >small.pto <<'END'
module attributes {pto.target_arch = "a3"} {
  func.func @small(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %two = arith.constant 2.0 : f32
    %v = pto.make_tensor_view %p, shape = [%n, %c8], strides = [%c8, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %q, shape = [%n, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    %t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=8, v_row=1, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %w) -> (!pto.tensor_view<?x?xf32>) {
      %odd = arith.remsi %i, %c8 : index
      %is = arith.cmpi eq, %odd, %c1 : index
      %a = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x8xf32>
      %b = pto.partition_view %u, offsets = [%i, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x8xf32>
      pto.tload ins(%a : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<x>)
      scf.if %is {
        pto.tmuls ins(%t, %two : !pto.tile_buf<x>, f32) outs(%t : !pto.tile_buf<x>)
      } else {
        pto.texp ins(%t : !pto.tile_buf<x>) outs(%t : !pto.tile_buf<x>)
      }
      pto.tstore ins(%t : !pto.tile_buf<x>) outs(%b : !pto.partition_tensor_view<1x8xf32>)
      scf.yield %u : !pto.tensor_view<?x?xf32>
    }
    return
  }
}
END
cat >rounds.pto <<'END'
func.func @rounds(%p: !pto.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %true = arith.constant true
  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major>
  %u = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major>
  %end:2 = scf.while (%i = %c0, %on = %true) : (index, i1) -> (index, i1) {
    %below = arith.cmpi slt, %i, %c8 : index
    %go = arith.andi %below, %on : i1
    scf.condition(%go) %i, %on : index, i1
  } do {
  ^bb0(%j: index, %is: i1):
    %k = arith.addi %j, %c1 : index
    scf.yield %k, %is : index, i1
  }
  %least = arith.cmpi eq, %n, %end#0 : i32
  %w = scf.if %least -> (!pto.tile_buf<x>) {
    scf.yield %t : !pto.tile_buf<x>
  } else {
    scf.yield %u : !pto.tile_buf<x>
  }
  pto.tload ins(%v : !pto.tensor_view<?x?xf32>) outs(%w : !pto.tile_buf<x>)
  return
}
END
ends 0 pto-opt small.pto
ends 0 pto-opt rounds.pto
/usr/bin/python3 -B "$TEST_ROOT/tests/readers/read-ascend/inputs/queue.py" >queue.pto
ends 0 /usr/bin/python3 -B mutate.py 1 "$count" small.pto tree/kernel_gemm_0.pto
ends 0 /usr/bin/python3 -B mutate.py 2 "$count" small.pto rounds.pto queue.pto

# Constants that products multiply by are packed in the first run with them and stay so, up to the bytes that an option
# allows, and until the constants change; the bits are those of runs that pack for themselves.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<$M x $K x bf16>, const %w: tensor<$K x $N x bf16>, %a: tensor<$M x $K x i8>, const %b: tensor<$N x $K x i8>)
    -> (tensor<$M x $N x bf16>, tensor<$M x $N x i32>) {
  %y = tensor.matmul %x, %w : tensor<$M x $N x bf16>
  %c = tensor.matmul %a, %b {transpose_b = true, out = i32} : tensor<$M x $N x i32>
  return %y, %c
}
END
# The rows that the last of some runs packed for, as the report has it, and the bytes that stay.
run() { # NAME ROWS OPTION..
  name=$1 rows=$2
  shift 2
  ends 0 pto-run f.ptir --pipeline=native.yaml --sym=M="$rows" --sym=N=300 --sym=K=270 --random-inputs=1 --report="$name" \
    --out y="$name-y.npy" --out c="$name-c.npy" "$@"
}
packs() { grep -q '^packing / kernel launches,count,2' "$1/counters.csv" || complain "$1 does not pack twice"; }
packs_nothing() { ! grep -q '^packing' "$1/counters.csv" || complain "$1 packs"; }
keeps() { grep -q '^packed constants,bytes,[1-9]' "$1/counters.csv" || complain "$1 keeps nothing"; }
keeps_nothing() { ! grep -q '^packed constants' "$1/counters.csv" || complain "$1 keeps something"; }
same() {
  for output in y c; do
    cmp -s "$1-$output.npy" "$2-$output.npy" || complain "$output of $1 and $2 have other bits"
  done
}
for threads in 1 2 7; do
  run once$threads 1300 --threads=$threads
  packs once$threads
  keeps once$threads
  run again$threads 1300 --threads=$threads --repeat=3
  packs_nothing again$threads
  keeps again$threads
  run changed$threads 1300 --threads=$threads --repeat=4 --rebind=1
  packs changed$threads
  keeps changed$threads
  run each$threads 1300 --threads=$threads --repeat=3 --set=backend.with.constant-bytes=0
  keeps_nothing each$threads
  for other in once again changed each; do same once1 $other$threads; done
done
packs each1
# Blocks for each thread pack for themselves, where nothing stays.
packs_nothing each7
# Less than both take.
run some 1300 --threads=1 --repeat=3 --set=backend.with.constant-bytes=170KiB
grep -q '^packing / kernel launches,count,1' some/counters.csv || fail 'with space for one of two, one is not packed'
keeps some
same once1 some
# One block of rows.
run block 20 --threads=2 --repeat=3
packs_nothing block
keeps block
run block-each 20 --threads=2 --repeat=3 --set=backend.with.constant-bytes=0
keeps_nothing block-each
same block block-each
# Few rows, in panels where there are kernels for them, whatever else there is.
for rows in 1 3; do
  for threads in 1 2; do
    run few$rows$threads $rows --threads=$threads --repeat=3
    packs_nothing few$rows$threads
    same few${rows}1 few$rows$threads
  done
  run few$rows-each $rows --threads=1 --repeat=3 --set=backend.with.constant-bytes=0
  keeps_nothing few$rows-each
  same few${rows}1 few$rows-each
done

ends 0 pto-run f.ptir --backend=pto.reference --sym=M=1300 --sym=N=300 --sym=K=270 --random-inputs=1 --out y=y.npy --out c=c.npy
cmp c.npy once1-c.npy || fail 'integers differ'
/usr/bin/python3 - <<'END' || fail 'floats differ'
import numpy
exact, ours = ((numpy.load(name).view("u2").astype("u4") << 16).view("f4") for name in ("y.npy", "once1-y.npy"))
assert abs(ours - exact).max() <= 2 ** -7 * abs(exact).max()
END

# A constant that is written where it was, and bound again.
is_sanitized && exit 0
cat >call.py <<'END'
import sys

import numpy

sys.path.insert(0, sys.argv[1])
from pto_library import Library

random = numpy.random.default_rng(7)
x = random.integers(-128, 128, (130, 270), "i1")
w = numpy.empty((270, 300), "i1")
program = Library(sys.argv[2]).compile("g.ptir", "native.yaml")
for change in range(3):
    w[:] = random.integers(-128, 128, w.shape, "i1")
    program.set_constant("w", w)
    for rows in 130, 1, 5, 130, 6, 1, 7:
        if not (program(x[:rows])[0] == x[:rows].astype("i4") @ w.astype("i4")).all():
            sys.exit(f"a call with {rows} rows after change {change} computes something else")
print("same")
END
cat >g.ptir <<'END'
func @g(%x: tensor<$M x 270 x i8>, const %w: tensor<270 x 300 x i8>) -> tensor<$M x 300 x i32> {
  %y = tensor.matmul %x, %w {out = i32} : tensor<$M x 300 x i32>
  return %y
}
END
ends 0 /usr/bin/python3 -B call.py "$TEST_ROOT/examples/embed" "$TEST_BUILD/lib/libpto.so"
says_line same out

# The program of the tree on .npy files: what it compares, writes and refuses. Kernels are stand-ins, the runtime is
# inputs/acl/acl.h; `./dev vendor` runs the real ones.
. "$TEST_ROOT/tests/shell.sh"
inputs=$TEST_ROOT/tests/generators/emit-ascend/inputs
command -v c++ >/dev/null || { echo 'no c++'; exit 77; }

cat >two.ptir <<'END'
func @two(%x: tensor<$R x 8 x f32>, %w: tensor<8 x 64 x f32>, %k: i32) -> tensor<$R x 1 x f32> {
  %y = tensor.matmul %x, %w : tensor<$R x 64 x f32>
  %z = tensor.reduce_max %y {axis = 1} : tensor<$R x 1 x f32>
  return %z
}
END
ends 0 pto-opt two.ptir --pipeline=ascend.yaml -o tree/
says 'ascend_take(&workspace, 256 \* R);' tree/host.cpp
# The first kernel doubles the first column of x into the workspace, the second adds 1.
cat >kernels.cpp <<'END'
#include <cstdint>
extern "C" void launch_two_0(uint32_t, void *, void *x, void *, void *y, int64_t R)
{
    for (int64_t i = 0; i < R; i++) static_cast<float *>(y)[64 * i] = 2 * static_cast<float *>(x)[8 * i];
}
extern "C" void launch_two_1(uint32_t, void *, void *y, void *z, int64_t R)
{
    for (int64_t i = 0; i < R; i++) static_cast<float *>(z)[i] = static_cast<float *>(y)[64 * i] + 1;
}
END
c++ -std=c++17 -Wall -Wextra -Wno-unused-parameter -Werror -O1 -I"$inputs" -Itree tree/run.cpp tree/host.cpp kernels.cpp -o run >text 2>&1 || fail 'the tree does not compile'

cat >make.py <<'END'
import numpy as np
x = np.arange(24, dtype=np.float32).reshape(3, 8)
np.save("x.npy", x)
np.save("x100.npy", np.zeros((100, 8), np.float32))
np.save("w.npy", np.zeros((8, 64), np.float32))
z = 2 * x[:, :1] + 1
np.save("z.npy", z)
z[1, 0] += 0.5
np.save("off.npy", z)
np.save("wide.npy", np.zeros((3, 9), np.float32))
np.save("rank.npy", np.zeros(24, np.float32))
np.save("double.npy", x.astype(np.float64))
np.save("order.npy", np.asfortranarray(x))
np.save("big.npy", x.astype(">f4"))
END
/usr/bin/python3 -B make.py
head -c 100 x.npy >cut.npy
printf 'text' >text.npy

ends 0 ./run two x=x.npy w=w.npy k=3 z=z.npy -o z=out.npy
says_line 'z: ok, 0 of 3 elements differ, max abs error 0' out
/usr/bin/python3 -B -c 'import numpy as np; assert (np.load("out.npy") == np.load("z.npy")).all()' || fail 'another output'
ends 1 ./run two x=x.npy w=w.npy k=3 z=off.npy
says_line 'z: WRONG, 1 of 3 elements differ, max abs error 0.5' out
ends 0 ./run two x=x.npy w=w.npy k=3 z=off.npy --tolerance=0.1
says_line 'z: ok, 1 of 3 elements differ, max abs error 0.5' out

refuses 2 'run: error: usage: run FUNCTION NAME=IN.npy|NUMBER .. NAME=EXPECTED.npy .. [-o NAME=OUT.npy] [--tolerance=T]' ./run
refuses 2 'run: error: there is no function `three`' ./run three
refuses 2 'run: error: `two` has no `q`' ./run two q=x.npy
refuses 2 'run: error: `x.npy` is not NAME=FILE' ./run two x.npy
refuses 2 'run: error: none.npy: cannot be read' ./run two x=none.npy
refuses 2 'run: error: text.npy: not a .npy file' ./run two x=text.npy
refuses 2 'run: error: cut.npy: its header is cut off' ./run two x=cut.npy
refuses 2 'run: error: order.npy: in Fortran order' ./run two x=order.npy
refuses 2 'run: error: big.npy: big endian' ./run two x=big.npy
refuses 2 'run: error: nothing says what `R` is: add R=NUMBER' ./run two w=w.npy k=3
refuses 2 'run: error: `x` is missing' ./run two R=3 w=w.npy k=3
refuses 2 'run: error: `k` is missing' ./run two x=x.npy w=w.npy
refuses 2 'run: error: wide.npy: dim 1 of `x` must be 8' ./run two x=wide.npy w=w.npy k=3
refuses 2 'run: error: rank.npy: `x` has rank 2' ./run two R=3 x=rank.npy w=w.npy k=3
refuses 2 'run: error: double.npy: `x` needs elements of another type' ./run two x=double.npy w=w.npy k=3
refuses 2 'run: error: none/z.npy: cannot be written' ./run two x=x.npy w=w.npy k=3 -o z=none/z.npy
refuses 2 'run: error: aclrtMalloc failed: 207001' env ACL_LIMIT=16 ./run two x=x.npy w=w.npy k=3
refuses 2 'run: error: no memory for a workspace' env ACL_LIMIT=5000 ./run two x=x100.npy w=w.npy k=3

# What `f.init` makes for `f` is made first; a float of 16 bits comes from a file; what is read and written has two.
cat >with-init.ptir <<'END'
module {machine = "ascend-910b"} {
  block.kernel @k core(vector) grid(%i: 1) reads(%x) writes(%y) (%x: gm<8 x f32>, out %y: gm<8 x f32>, %h: f16) {
    %b = block.buffer {space = vec, bytes_per_stage = 32, addr = 0} : buffer
    %t = block.tile %b[0] valid(1, 8) : tile<1 x 8 x f32, vec, nd>
    pto.tload %t, %x[0]
    pto.tstore %y[0], %t
  }
  func @g.init(const %w: gm<8 x f32>, out %v: gm<8 x f32>) {
    %h = constant {value = 1.0} : f16
    exec.launch @k args(%w, %v, %h)
    return
  }
  func @g(const %w: gm<8 x f32>, const %v: gm<8 x f32>, %h: f16, out %y: gm<8 x f32>) {
    exec.launch @k args(%v, %y, %h)
    return
  }
  func @a(inout %cache: gm<8 x f32>, %h: f16, out %y_2d: gm<8 x f32>) {outputs = ["y"]} {
    exec.launch @k args(%cache, %y_2d, %h)
    exec.launch @k args(%y_2d, %cache, %h)
    return
  }
  func @s(%x: gm<8 x f32>, %h: f16, out %x_2d: gm<8 x f32>) {outputs = ["x"]} {
    exec.launch @k args(%x, %x_2d, %h)
    return
  }
}
END
cp "$inputs/emit.yaml" . && sed -i "s|^machine: .*|machine: $TEST_ROOT/pipelines/machines/ascend-910b.yaml|" emit.yaml
ends 0 pto-opt with-init.ptir --pipeline=emit.yaml -o g/
cat >twice.cpp <<'END'
#include <cstdint>
extern "C" void launch_k(uint32_t, void *, void *x, void *y, uint16_t h)
{
    for (int i = 0; i < 8; i++) static_cast<float *>(y)[i] = static_cast<float *>(x)[i] + (h == 0x3c00 ? 1 : 0);
}
END
c++ -std=c++17 -Wall -Wextra -Wno-unused-parameter -Werror -O1 -I"$inputs" -Ig g/run.cpp g/host.cpp twice.cpp -o run-g >text 2>&1 || fail 'the tree does not compile'
/usr/bin/python3 -B -c '
import numpy as np
np.save("eight.npy", np.arange(8, dtype=np.float32))
np.save("two-more.npy", np.arange(8, dtype=np.float32) + 2)
np.save("one.npy", np.float16(1))'
ends 0 ./run-g g w=eight.npy h=one.npy y=two-more.npy
says_line 'y: ok, 0 of 8 elements differ, max abs error 0' out
refuses 2 'run: error: `h` is a float of 16 bits: give a .npy file' ./run-g g w=eight.npy h=1 y=two-more.npy
refuses 2 'run: error: `w` is missing' ./run-g g h=one.npy y=two-more.npy
says_line 'build/run a cache=cache_in.npy cache=cache_expected.npy h=1 y=y_expected.npy' g/README.md
ends 0 ./run-g a cache=eight.npy h=one.npy cache=two-more.npy
says_line 'cache: ok, 0 of 8 elements differ, max abs error 0' out
ends 1 ./run-g a cache=eight.npy h=one.npy cache=two-more.npy y=two-more.npy
says_line 'y: WRONG, 8 of 8 elements differ, max abs error 1' out
refuses 2 'run: error: `cache` is missing' ./run-g a h=one.npy
refuses 2 'run: error: `h` is given twice' ./run-g a cache=eight.npy h=one.npy h=one.npy
refuses 2 'run: error: `cache` is given twice' ./run-g a cache=eight.npy cache=eight.npy cache=eight.npy h=one.npy
refuses 2 'run: error: -o: `w` is not an output' ./run-g g w=eight.npy h=one.npy -o w=out.npy

# An input and an output of one name take a file each, in this order.
says_line 'build/run s x=x_in.npy h=1 x=x_expected.npy' g/README.md
ends 0 ./run-g s x=two-more.npy h=one.npy -o x=out.npy
ends 0 ./run-g s x=two-more.npy h=one.npy x=out.npy
says_line 'x: ok, 0 of 8 elements differ, max abs error 0' out
ends 1 ./run-g s x=two-more.npy h=one.npy x=eight.npy
says_line 'x: WRONG, 8 of 8 elements differ, max abs error 3' out

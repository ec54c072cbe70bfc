# A caller that has no kernels, or is older than they are, is told at the op; so is a depth below 0.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%a: tensor<2 x 2 x f32>, %b: tensor<2 x 2 x f32>) -> tensor<2 x 2 x f32> {
  %c = tensor.matmul %a, %b : tensor<2 x 2 x f32>
  return %c
}
END
ends 0 pto-opt f.ptir --pipeline=native.yaml --machine=cpu-avx2 -o f.c
cat >main.c <<'END'
#include "f.c"
#include <stdio.h>
static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    (void)self, (void)kernel, (void)frame, (void)scratch_bytes;
    return instances == 1 ? 0 : -1;
}
static int64_t scratch_most(int64_t m, int64_t n) { return m * n; }
int main(void)
{
    float x[4] = {0};
    void *const arguments[] = {x, x, x};
    const pto_native_product product = {.struct_size = sizeof product, .scratch_most = scratch_most};
    const pto_native_product *const products[] = {&product};
    pto_native_services services = {.struct_size = sizeof services, .launch = launch};
    const pto_native_call call = {.struct_size = sizeof call, .services = &services, .arguments = arguments};
    const int32_t none = f_function(&call);
    services.product_count = 1;
    services.products = products;
    const int32_t some = f_function(&call);
    services.struct_size = offsetof(pto_native_services, product_count);
    const int32_t old = f_function(&call);
    printf("%d %d %d: %s\n", (int)none, (int)some, (int)old, pto_native_module_v1.faults[none - 1].text);
    return 0;
}
END
ends 0 cc -std=gnu17 -O1 -I"$TEST_ROOT/sdk/include" main.c -o main -lm
ends 0 ./main
says_line '1 0 1: needs kernels of products that the caller does not have' out
product_of_depth >depth.ptir
for way in --pipeline=native.yaml\ --from=native-bind --backend=pto.reference; do
  # shellcheck disable=SC2086
  ends 0 pto-run depth.ptir $way --random-inputs=1 --in d=4
  # shellcheck disable=SC2086
  ends 0 pto-run depth.ptir $way --random-inputs=1 --in d=0 --out y=y.npy
  /usr/bin/python3 -c "import numpy; assert not numpy.load('y.npy').any()" || fail
done
fails 5 'depth.ptir:3:8: error: \[pto.native/fault\] `tile.contract` has a depth below 0' \
  pto-run depth.ptir --pipeline=native.yaml --from=native-bind --random-inputs=1 --in d=-1
fails 5 'depth.ptir:3:8: error: \[pto.native/fault\] `tile.contract` reaches beyond the extent of the memory' \
  pto-run depth.ptir --pipeline=native.yaml --from=native-bind --random-inputs=1 --in d=5
fails 5 'depth.ptir:3:8: error: \[pto.reference/valid\] `tile.contract` has a depth of -1' \
  pto-run depth.ptir --backend=pto.reference --random-inputs=1 --in d=-1
fails 5 'depth.ptir:3:8: error: \[pto.reference/out-of-bounds\] `tile.contract` needs 5 elements from 0' \
  pto-run depth.ptir --backend=pto.reference --random-inputs=1 --in d=5

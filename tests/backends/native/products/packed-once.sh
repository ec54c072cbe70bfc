# Right sides that more blocks of rows than there are threads multiply by are packed once for a launch, in a launch of
# their own; the bits are those of products that pack for themselves, which callers without memory or without such
# kernels get.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END_OF_FILE'
func @f(%a: tensor<$M x $K x f32>, %b: tensor<$N x $K x f32>, %x: tensor<$M x $K x bf16>, %y: tensor<$K x $N x bf16>)
    -> (tensor<$M x $N x f32>, tensor<$M x $N x bf16>) {
  %c = tensor.matmul %a, %b {transpose_b = true} : tensor<$M x $N x f32>
  %z = tensor.matmul %x, %y : tensor<$M x $N x bf16>
  return %c, %z
}
END_OF_FILE
for threads in 1 2 7; do
  ends 0 pto-run f.ptir --pipeline=native.yaml --sym=M=1300 --sym=N=300 --sym=K=270 --random-inputs=1 --threads=$threads \
    --report=r$threads --out c=c$threads.npy --out z=z$threads.npy
done
grep -q '^packing / kernel launches,count,2' r1/counters.csv || fail 'one thread does not pack once'
grep -q '^packing / kernel launches,count,2' r2/counters.csv || fail 'two threads do not pack once'
! grep -q '^packing' r7/counters.csv || fail 'a block for each thread packs once'
ends 0 pto-run f.ptir --pipeline=native.yaml --sym=M=200 --sym=N=300 --sym=K=270 --random-inputs=1 --threads=1 --report=few
! grep -q '^packing' few/counters.csv || fail 'one block packs once'
ends 0 pto-run f.ptir --backend=pto.reference --sym=M=1300 --sym=N=300 --sym=K=270 --random-inputs=1 --out c=c.npy --out z=z.npy
cat >look.py <<'END_OF_FILE'
import numpy
for name in "cz":
    first = numpy.load(name + "1.npy")
    for threads in (2, 7):
        assert first.tobytes() == numpy.load(f"{name}{threads}.npy").tobytes(), (name, threads)
exact = numpy.load("c.npy").astype("f8")
assert abs(numpy.load("c1.npy") - exact).max() <= 1e-6 * abs(exact).max()
END_OF_FILE
/usr/bin/python3 look.py || fail 'results differ'

# Matrices of a batch, each packed once; with causal attention products take the first columns and the first of k.
cat >heads.ptir <<'END_OF_FILE'
func @f(%q: tensor<2 x 3 x 1050 x 24 x bf16>, %k: tensor<2 x 3 x 1050 x 24 x bf16>, %v: tensor<2 x 3 x 1050 x 24 x bf16>)
    -> (tensor<2 x 3 x 1050 x 24 x bf16>, tensor<2 x 3 x 1050 x 24 x bf16>) {
  %a = tensor.attention %q, %k, %v {causal = true} : tensor<2 x 3 x 1050 x 24 x bf16>
  %b = tensor.attention %q, %k, %v : tensor<2 x 3 x 1050 x 24 x bf16>
  return %a, %b
}
END_OF_FILE
ends 0 pto-run heads.ptir --backend=pto.reference --random-inputs=1 --out a=a.npy --out b=b.npy
for threads in 1 2 7; do
  ends 0 pto-run heads.ptir --pipeline=native.yaml --random-inputs=1 --threads=$threads --report=h$threads \
    --out a=a$threads.npy --out b=b$threads.npy
  grep -q '^packing / kernel launches,count,4' h$threads/counters.csv || fail "$threads threads do not pack keys and values"
  cmp a1.npy a$threads.npy && cmp b1.npy b$threads.npy || fail "$threads threads have other bits"
done
/usr/bin/python3 - <<'END_OF_FILE' || fail 'attention differs'
import numpy
def floats(name):
    return (numpy.load(name).view("u2").astype("u4") << 16).view("f4")
for name in "ab":
    exact = floats(name + ".npy")
    assert abs(floats(name + "1.npy") - exact).max() <= 2 ** -7 * abs(exact).max()
END_OF_FILE

# A caller without memory for it, one whose kernels are older, and callers that keep what is made of constants: before
# it is made, when it is, and when it cannot be.
sed 's/%y:/const %y:/' f.ptir >g.ptir
ends 0 pto-opt g.ptir --pipeline=native.yaml --machine=cpu-avx2 --set=native-layout.with.gain=1 -o f.c
cat >main.c <<'END_OF_FILE'
#include "f.c"
#include <stdio.h>
#include <stdlib.h>
static int has_memory, has_way, parts, blocks, taken, kept, few_parts, in_panels;
static char memory[64 * 4 * 4 * 4];
static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    char *scratch = malloc(scratch_bytes + 1);
    int32_t fault = 0;
    (void)self;
    for (int64_t i = 0; i < instances && fault == 0; i++) fault = kernel(frame, i, scratch);
    free(scratch);
    return fault;
}
static void *allocate(void *self, size_t bytes) { return (void)self, (void)bytes, has_memory ? memory : NULL; }
static uint64_t mark(void *self) { return (void)self, 17; }
static void release(void *self, uint64_t to) { (void)self, taken += to == 17; }
static int64_t scratch_most(int64_t m, int64_t n) { return (void)m, (void)n, 64; }
static void block(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b, int64_t b_k,
                  int64_t b_column, void *c, int64_t c_row, bool adds, void *scratch)
{
    (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_k, (void)b, (void)b_k, (void)b_column, (void)c, (void)c_row;
    (void)adds, (void)scratch;
    blocks++;
}
static int64_t packed_bytes(int64_t n, int64_t k, int64_t b_k, int64_t b_column)
{
    return (void)n, (void)k, (void)b_k, (void)b_column, 64;
}
static void pack(int64_t part, int64_t n, int64_t k, const void *b, int64_t b_k, int64_t b_column, void *to)
{
    (void)part, (void)n, (void)k, (void)b, (void)b_k, (void)b_column, (void)to;
    parts++;
}
static bool packed(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b,
                   int64_t columns, int64_t depth, int64_t column, void *c, int64_t c_row, bool adds, void *scratch)
{
    (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_k, (void)b, (void)columns, (void)depth, (void)column;
    (void)c, (void)c_row, (void)adds, (void)scratch;
    return has_way;
}
static int64_t few_bytes(int64_t n, int64_t k, int64_t b_k, int64_t b_column)
{
    return (void)b_k, (void)b_column, (n + 63) / 64 * 64 * k * 4;
}
static void few_pack(int64_t part, int64_t n, int64_t k, const void *b, int64_t b_k, int64_t b_column, void *to)
{
    (void)part, (void)n, (void)k, (void)b, (void)b_k, (void)b_column, (void)to;
    few_parts++;
}
static float x[2000 * 200];
static void panels(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b,
                   int64_t width, int64_t panel_stride, void *c, int64_t c_row, bool adds, void *scratch)
{
    (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_k, (void)c, (void)c_row, (void)adds, (void)scratch;
    in_panels += width == 64 && panel_stride == 64 * 4 && ((const char *)b - memory) % (64 * 4 * 4) == 0;
}
static int64_t panels_scratch(int64_t m, int64_t n) { return (void)m, (void)n, 128; }
static bool has_place, is_made;
static void *keep(void *self, const void *key, size_t key_bytes, size_t bytes, bool **made)
{
    const pto_native_right *const right = key;
    const size_t expected = right->width == 64 ? 64 * 4 * 4 * 4 : 64;
    kept += self == NULL && right->b == x && right->n == 200 && right->k == 4 && bytes == expected &&
            key_bytes == offsetof(pto_native_right, packed);
    *made = &is_made;
    return has_place ? memory : NULL;
}
/* Keeps, or is older. */
static void call_with(pto_native_services services, const pto_native_call *call, const char *what)
{
    pto_native_call c = *call;
    c.services = &services;
    parts = blocks = taken = kept = few_parts = in_panels = 0;
    const int32_t fault = f_function(&c);
    printf("%s: fault %d, %d parts, blocks %d, released %d, kept %d, made %d, parts of panels %d, in panels %d\n", what,
           (int)fault, parts, blocks > 0, taken, kept, is_made, few_parts, in_panels > 0);
}
int main(void)
{
    enum { M = 2000, N = 200, K = 4 };
    void *const arguments[] = {x, x, x, x, x, x};
    pto_native_product p = {.struct_size = sizeof p, .scratch_most = scratch_most, .block = block};
    const pto_native_product *const products[] = {&p, &p, &p, &p};
    pto_native_services services = {.struct_size = sizeof services, .launch = launch, .allocate = allocate,
                                    .mark = mark, .release = release, .product_count = 4, .products = products};
    int64_t symbols[8];
    for (int i = 0; f_symbols[i] != NULL; i++) symbols[i] = f_symbols[i][0] == 'M' ? M : f_symbols[i][0] == 'N' ? N : K;
    const pto_native_call call = {.struct_size = sizeof call, .services = &services, .arguments = arguments, .symbols = symbols};
    for (int way = 0; way < 5; way++) {
        parts = blocks = taken = 0;
        has_memory = way != 1;
        has_way = way != 4;
        p.packed_bytes = packed_bytes, p.pack = pack, p.packed = way == 3 ? NULL : packed;
        p.struct_size = way == 2 ? offsetof(pto_native_product, packed_bytes) : sizeof p;
        const int32_t fault = f_function(&call);
        printf("%d: fault %d, %d parts, blocks %d, released %d\n", way, (int)fault, parts, blocks > 0, taken);
    }
    has_memory = has_way = 1;
    services.keep = keep;
    p.packed_rows = M + 1;
    call_with(services, &call, "too few rows");
    p.packed_rows = M;
    call_with(services, &call, "no place");
    has_place = true;
    call_with(services, &call, "to be made");
    call_with(services, &call, "made");
    p.few_bytes = few_bytes, p.few_pack = few_pack, p.panels = panels, p.panels_scratch = panels_scratch;
    p.few_columns = 64;
    p.few_rows = M - 1;
    call_with(services, &call, "too many rows for panels");
    p.few_rows = M;
    is_made = false;
    call_with(services, &call, "panels to be made");
    call_with(services, &call, "panels made");
    has_place = false;
    call_with(services, &call, "no place for panels");
    has_place = true;
    services.struct_size = offsetof(pto_native_services, keep);
    call_with(services, &call, "older");
    services.struct_size = offsetof(pto_native_services, products);
    call_with(services, &call, "without products");
    return 0;
}
END_OF_FILE
ends 0 cc -std=gnu17 -O1 -I"$TEST_ROOT/sdk/include" main.c -o main -lm
ends 0 ./main
says_line '0: fault 0, 4 parts, blocks 0, released 2' out
says_line '1: fault 0, 0 parts, blocks 1, released 2' out
says_line '2: fault 0, 0 parts, blocks 1, released 2' out
says_line '3: fault 0, 0 parts, blocks 1, released 2' out
says_line '4: fault 0, 4 parts, blocks 1, released 2' out
says_line 'too few rows: fault 0, 4 parts, blocks 0, released 2, kept 0, made 0, parts of panels 0, in panels 0' out
says_line 'no place: fault 0, 4 parts, blocks 0, released 2, kept 1, made 0, parts of panels 0, in panels 0' out
says_line 'to be made: fault 0, 4 parts, blocks 0, released 2, kept 1, made 1, parts of panels 0, in panels 0' out
says_line 'made: fault 0, 2 parts, blocks 0, released 2, kept 1, made 1, parts of panels 0, in panels 0' out
says_line 'too many rows for panels: fault 0, 2 parts, blocks 0, released 2, kept 1, made 1, parts of panels 0, in panels 0' out
says_line 'panels to be made: fault 0, 2 parts, blocks 0, released 2, kept 1, made 1, parts of panels 2, in panels 1' out
says_line 'panels made: fault 0, 2 parts, blocks 0, released 2, kept 1, made 1, parts of panels 0, in panels 1' out
says_line 'no place for panels: fault 0, 4 parts, blocks 0, released 2, kept 2, made 1, parts of panels 0, in panels 0' out
says_line 'older: fault 0, 4 parts, blocks 0, released 2, kept 0, made 1, parts of panels 0, in panels 0' out
says '^without products: fault [1-9]' out

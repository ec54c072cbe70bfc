# A long text is in parts, which a loader may compile at the same time; the parts together are what the whole is.
. "$TEST_ROOT/tests/shell.sh"
ends 0 pto-opt "$TEST_ROOT/examples/attention/attention.ptir" --pipeline=native.yaml --machine=cpu-avx2 -o a.c
grep -oE '^static int32_t PTO_PART_[1-3]\([a-z_0-9]+_kernel\)' a.c >parts || fail
[ "$(grep -oE 'PTO_PART_.' parts | sort -u | wc -l)" = 3 ] || fail
grep -qE '^static int32_t [a-z_0-9]+_kernel\(' a.c || fail
compile() { # compile NAME FLAG..: its kernels, one line each, and what it exports
  name=$1
  shift
  ends 0 cc -std=gnu17 -O1 -w -fPIC -ffp-contract=off -fno-strict-aliasing -mavx2 -mfma -mf16c \
    -I"$TEST_ROOT/sdk/include" "$@" -c a.c -o "$name.o"
  nm "$name.o" >"$name.names"
}
kernels() { cat "$@" | grep -oE ' [tT] [a-z_0-9]+_kernel$' | sed 's/.* //' | sort; }
are_the_whole() { # are_the_whole FLAG..: the parts of a.c together
  compile whole "$@"
  kernels whole.names >expected
  [ "$(wc -l <expected)" -gt 3 ] || fail
  grep -q ' T ' whole.names && fail
  for set in '5 10' '1 2 4 8'; do
    objects='' names=''
    for mask in $set; do
      compile "part$mask" "-DPTO_PARTS_HERE=$mask" "$@"
      objects="$objects part$mask.o" names="$names part$mask.names"
    done
    # Each kernel is in one part, and the module in the first.
    # shellcheck disable=SC2086
    kernels $names | diff expected - || fail
    # shellcheck disable=SC2086
    [ "$(cat $names | grep -c ' pto_native_module_v1$')" = 1 ] || fail
    # shellcheck disable=SC2086
    ends 0 cc -shared -o parts.so $objects -lm
    [ "$(nm -D --defined-only parts.so | sed 's/.* //')" = pto_native_module_v1 ] || fail
  done
}
are_the_whole -DPTO_VECTOR_BYTES=32

# Two compilers have about as much to do: a sweep is as much as 1800 bytes of other text.
cat >balance.py <<'END'
import re, sys
text = open("a.c").read()
work, rest = [0, 0], len(text)
for part, body in re.findall(r"^static int32_t (?:PTO_PART_(\d)\()?\w+_kernel\)?\((const void.*?^}$)", text, re.M | re.S):
    work[int(part or 0) % 2] += len(body) + 1800 * body.count("PTO_SWEEP")
    rest -= len(body)
work[0] += rest
if abs(work[0] - work[1]) > sum(work) / 10:
    sys.exit(f"{work[0]} beside {work[1]}")
END
ends 0 /usr/bin/python3 balance.py

# So are those of kernels with sweeps that trail, which are compiled for rows.
for n in 1 2 3 4 5 6 7 8; do
  echo "func @f$n(%x: tensor<\$R x \$C x f32>) -> tensor<\$R x \$C x f32> {"
  echo "  %y = tensor.softmax %x : tensor<\$R x \$C x f32>"
  echo "  return %y"
  echo "}"
done >f.ptir
ends 0 pto-opt f.ptir --pipeline=native.yaml --machine=cpu-avx512 -o a.c
for part in 1 2 3; do
  grep -q "^static int32_t PTO_PART_$part(PTO_TRAILING [a-z_0-9]*_kernel)" a.c || fail "nothing trails in part $part"
done
are_the_whole -DPTO_VECTOR_BYTES=64 -mavx512f -mavx512bw -mavx512vl -mavx512dq

# A short text is not worth a second compiler.
ends 0 pto-opt "$TEST_ROOT/examples/softmax/softmax.ptir" --pipeline=native.yaml --machine=cpu-avx2 -o s.c
grep -q PTO_PART s.c && fail
true

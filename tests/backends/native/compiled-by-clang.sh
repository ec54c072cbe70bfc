# clang refuses options that GCC is given: which of them a compiler is shows where links to it lead. Both make programs
# of the same bits.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
ln -s "$(command -v clang-19)" cc
for compiler in gcc ./cc; do
  ends 0 pto-run "$TEST_ROOT/examples/softmax/softmax.ptir" --pipeline=native.yaml --sym=B=3 --random-inputs=1 \
    --set=backend.with.compiler=$compiler --out=y=y.npy
  mv y.npy "$(basename $compiler).npy"
done
cmp gcc.npy cc.npy || fail "clang makes a program of other results"

# What `pto.emit-c` writes is compiled with the sanitizers of this build, and runs examples and random programs.
# $sanitizers: what -fsanitize= gets; $prefix: how the names of functions begin that code compiled so calls.
# shellcheck disable=SC2154
. "$TEST_ROOT/tests/shell.sh"
cat >compiler <<END
#!/bin/sh
exec clang-19 -fsanitize=$sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only "\$@"
END
chmod +x compiler
export XDG_CACHE_HOME="$PWD/cache"

runs=0
for case in "$TEST_ROOT"/examples/*/*.yaml; do
  grep -q '^pto-case' "$case" || continue
  runs=$((runs + 1))
  [ $((runs % TEST_SHARE)) -eq 0 ] || continue
  pto-run --case "$case" --size small --pipeline=native.yaml --set "backend.with.compiler=$PWD/compiler" --threads=2 \
    "$kept_data" >out 2>&1 || complain "$case"
  grep -q ': ok, ' out || complain "$case: nothing was compared"
done
[ "$runs" -ge 40 ] || complain "only $runs cases were found"
library=$(find cache -name '*.so' | head -n 1)
nm -D "$library" | grep -q " $prefix" || complain "$library was compiled without -fsanitize=$sanitizers"

count=$((64 / TEST_SHARE))
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/programs/run.py" --seed 8100 --count $count --lowered 0 --native 1 --compiler "$PWD/compiler" \
  --keep . >out || fail
says ' native, [0-9]* refused there, 0 wrong$' out

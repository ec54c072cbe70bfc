# The C compiler of pto.native: none, one that fails, one that hangs, one that a killed run leaves.
. "$TEST_ROOT/tests/shell.sh"
negation >f.ptir
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
program native 'exec pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.cache=false "$@"'
program with 'exec ./native --set=backend.with.compiler="$1" --set=backend.with.compile-seconds=2'
left() { find . -path './pto-native-*/*' | wc -l; }

fails 3 'f.ptir:1:1: error: \[pto.native/no-compiler\] C compiler `no-such-cc` is in no folder of \$PATH; Debian packages `gcc` and `libc6-dev` have one' \
  ./with no-such-cc
fails 3 'error: \[pto.native/no-compiler\] C compiler `./f.ptir` is not a program that can be run' ./with ./f.ptir
mkdir bin
ln -s "$(command -v pto-run)" bin/pto-run
fails 3 'error: \[pto.native/no-compiler\] no C compiler is in a folder of \$PATH; Debian packages `gcc` and `libc6-dev` have one' \
  env PATH="$PWD/bin" pto-run f.ptir --pipeline=native.yaml --random-inputs=1

# It says what is wrong, and nothing of the folder it worked in.
program wrong "echo 'In file included from module.c:1:' >&2
echo 'module.c:3:5: error: expected an expression' >&2
exit 1"
fails 5 'error: \[pto.native/compiler\] C compiler `wrong` ended with status 1: module.c:3:5: error: expected an expression ' ./with ./wrong
fails 5 'error: \[pto.native/compiler\] C compiler `false` ended with status 1 ' ./with false
fails 5 'error: \[pto.native/load\] `/.*/true` ended with status 0 and made no file: it is not a C compiler with the options of gcc ' ./with true
# A linker says why before its caller says that it failed.
program links 'exec gcc "$@" -lmissing-here'
fails 5 'error: \[pto.native/compiler\] C compiler `links` ended with status 1: [^ ]*ld: cannot find -lmissing-here' ./with ./links
program full "echo 'module.c:3:5: warning: unused' >&2
echo '/usr/bin/ld: final link failed: No space left on device' >&2
echo 'collect2: error: ld returned 1 exit status' >&2
exit 1"
fails 5 'error: .* C compiler `full` ended with status 1: /usr/bin/ld: final link failed: No space left on device ' ./with ./full
program crashes 'kill -SEGV $$'
fails 5 'error: \[pto.native/compiler\] C compiler `crashes` ended by signal 11 ' ./with ./crashes

# One that hangs ends with all that it has started, and the tool has nothing to say of that.
program hangs "sleep 1000 &
echo \$! >'$PWD/child'
wait"
fails 5 'error: \[pto.native/compiler\] C compiler `hangs` did not end within 2 s and was killed' ./with ./hangs
[ "$(grep -c 'warning' text)" -eq 0 ] || fail 'a process was left'
[ ! -d "/proc/$(cat child)" ] || fail 'its child lives on'
[ "$(left)" -eq 0 ] || fail 'files were left'

# The time limit of the tool stops it, too.
fails 75 'the time limit of 1 s ran out' ./native --time-limit=1 --set=backend.with.compiler=./hangs
[ ! -d "/proc/$(cat child)" ] || fail 'its child lives on'
[ "$(left)" -eq 0 ] || fail 'files were left'

# A run that is killed leaves its folder; the next run removes it.
rm child
./native --set=backend.with.compiler=./hangs >/dev/null 2>&1 &
run=$!
tries=0
while [ ! -s child ] && [ $tries -lt 2000 ]; do
  sleep 0.01
  tries=$((tries + 1))
done
kill -9 $run
wait $run
[ "$(left)" -gt 0 ] || fail 'the folder was not left'
ends 0 ./native
[ "$(left)" -eq 0 ] || fail 'the folder is still there'
kill "$(cat child)" 2>/dev/null
fails 5 'error: \[pto.native/cannot-write\] temporary folder `.*/missing/pto-native-[0-9]*` cannot be opened: No such file or directory' \
  env TMPDIR="$PWD/missing" ./native
# A link in its place is not followed, by no tool: what it leads to stays.
mkdir -p linked precious/project
echo data >precious/project/thesis
ln -s "$PWD/precious" "linked/pto-native-$(id -u)"
link_said="temporary folder \`.*/linked/pto-native-[0-9]*\` is a link, which is not followed; remove it"
fails 5 "error: \[pto.native/cannot-write\] $link_said" env TMPDIR="$PWD/linked" ./native
fails 5 "error: \[E1614\] the library cannot be made: $link_said" env TMPDIR="$PWD/linked" pto-build f.ptir -o libf.so
[ "$(cat precious/project/thesis)" = data ] || fail 'what the link leads to was changed'

# clang refuses options that GCC is given: which of them a compiler is shows where links to it lead. All make programs
# of the same bits, also where scratch memory holds numbers of several types.
compare_with_gcc() { # COMPILER
  name=$(basename "$1")
  ends 0 pto-run "$TEST_ROOT/examples/softmax/softmax.ptir" --pipeline=native.yaml --no-cache --sym=B=3 --random-inputs=1 \
    --set=backend.with.compiler="$1" --out="y=$name.npy"
  ends 0 pto-run "$TEST_ROOT/examples/topk/topk.ptir" --pipeline=native.yaml --no-cache --sym=R=5 --sym=N=300 \
    --random-inputs=1 --set=backend.with.compiler="$1" --out="values=$name-values.npy" --out="places=$name-places.npy"
  for output in '' -values -places; do
    cmp gcc$output.npy "$name$output.npy" || fail "$1 makes a program of other results"
  done
}
compare_with_gcc gcc
ln -s "$(command -v clang-19)" clang
compare_with_gcc ./clang

# That of Debian 12, also where it is the only one that PATH has.
if command -v clang-14 >where; then
  compare_with_gcc clang-14
  ln -s "$(cat where)" bin/clang
  ln -s "$(command -v ld)" bin/ld
  ends 0 env PATH="$PWD/bin" pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --no-cache
else
  echo 'not seen: the clang of Debian 12, there is no clang-14'
fi

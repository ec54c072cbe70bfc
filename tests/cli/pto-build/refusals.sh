# What pto-build refuses: the command line, modules of which no library can be made, and what the system lacks. Nothing
# half-written is left.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation >f.ptir
fails 2 '^pto-build: error: \[E1504\] the library has no name: give it with -o$' pto-build f.ptir
fails 2 '^pto-build: error: \[E1504\] one input file is needed, 0 are given$' pto-build -o libf.so
fails 2 '^pto-build: error: \[E1503\] the name `f.dll` does not say what to make; it ends in .so, .a, .o or .c$' pto-build f.ptir -o f.dll
fails 2 '^pto-build: error: \[E1503\] the functions of `2f.so` cannot begin with `2f`, which is not a name in C;' pto-build f.ptir -o 2f.so
fails 2 '^pto-build: error: \[E1503\] option `--name` needs the beginning of names in C, not `a-b`$' pto-build f.ptir -o f.so --name a-b
fails 2 '^pto-build: error: \[E1509\] --output and --header both name `f.c`$' pto-build f.ptir -o f.c --header f.c
fails 2 '^pto-build: error: \[E1714\] `-o f.so` asks for a code generator, and the pipeline has none that writes `.c` files$' pto-build f.ptir -o f.so --pipeline=default.yaml
for name in pto pto_runtime PTO_x DLPACK; do
  fails 2 "^pto-build: error: \[E1503\] the name \`$name\` is taken: what begins with \`${name%_*}_\` is of pto itself or of DLPack; give another with --name$" pto-build f.ptir -o f.so --name $name
  fails 2 "^pto-build: error: \[E1503\] the name \`$name\` is taken: " pto-build f.ptir -o lib$name.a
done
mkfifo pipe.so
mkdir folder.so
for output in pipe folder; do
  fails 74 "^$output.so: error: \[E1501\] cannot write: this is not a regular file$" timeout 60 pto-build f.ptir -o $output.so
done
# A header is text, which pipes take as they take modules.
for command in 'pto-build f.ptir -o read.so --header' 'pto-opt f.ptir -o'; do
  timeout 60 cat pipe.so >piped &
  # shellcheck disable=SC2086
  ends 0 timeout 60 $command pipe.so
  wait $!
  [ -s piped ] || fail "$command: nothing came"
done
rm read.so

# Options of the backend that nothing comes of.
for option in threads=2 cache=false cache-dir=/tmp cache-bytes=1MiB constant-bytes=0; do
  fails 2 "^<command line>:1:[0-9]*: error: \[E1615\] option \`${option%=*}\` of backend \`pto.native\` has no effect on \`f.so\`: leave it out$" pto-build f.ptir -o f.so --set="backend.with.$option"
done
fails 2 '^--compiler: error: \[E1615\] option `compiler` of backend `pto.native` has no effect on `f.c`: leave it out$' pto-build f.ptir -o f.c --compiler gcc
fails 2 'error: \[E1615\] option `compile-seconds` of backend `pto.native` has no effect on `f.c`: leave it out$' pto-build f.ptir -o f.c --set=backend.with.compile-seconds=10
[ ! -e f.so ] && [ ! -e f.c ] || fail "something was written"

# refused PATTERN: f.ptir is refused with E1613 and leaves nothing.
refused() {
  fails 4 "error: \[E1613\] $1" pto-build f.ptir -o libf.so --header f.h
  [ ! -e libf.so ] && [ ! -e f.h ] || fail "something was written"
}
negation | sed 's/func/func private/' >f.ptir
refused 'the module has no public function, so that a library of it would be empty'
negation 4 open >f.ptir
refused '@open would be f_open, which each library has for itself: rename it'
cat >f.ptir <<'MODULE'
func @g.init(const %w: tensor<4 x f32>) -> tensor<4 x f32> {
  %v = tensor.neg %w : tensor<4 x f32>
  return %v
}
func @g(%x: tensor<4 x f32>, const %v: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.add %x, %v : tensor<4 x f32>
  return %y
}
func @g_init(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
MODULE
refused '@g.init and @g_init would both be f_g_init: rename one'
negation >f.ptir
sed -i '/return/i\  debug.print %y {label = "y"}' f.ptir
refused '`debug.print` has no place in a library, which prints nothing: take it out'

{
  printf 'func @f(%%x0: tensor<4 x f32>'
  for i in $(seq 1 64); do printf ', %%x%s: tensor<4 x f32>' "$i"; done
  printf ') -> tensor<4 x f32> {\n  %%y = tensor.neg %%x0 : tensor<4 x f32>\n  return %%y\n}\n'
} >f.ptir
refused '@f has more than 63 tensors, symbols or facts'

negation >f.ptir
fails 3 '^pto-build: error: \[E1614\] the library cannot be made: C compiler `nowhere` is in no folder of $PATH; Debian packages `gcc` and `libc6-dev` have one$' pto-build f.ptir -o libf.so --compiler nowhere
printf '#!/bin/sh\necho "it is broken, error" >&2\nexit 1\n' >broken
chmod +x broken
fails 5 '^pto-build: error: \[E1614\] the library cannot be made: C compiler `broken` ended with status 1: it is broken, error$' pto-build f.ptir -o libf.so --compiler ./broken
fails 5 '^pto-build: error: \[E1614\] the library cannot be made: C compiler `broken` ended with status 1' pto-build f.ptir -o libf.so --set=backend.with.compiler=./broken
printf '#!/bin/sh\nsleep 60\n' >slow
chmod +x slow
fails 5 '^pto-build: error: \[E1614\] the library cannot be made: C compiler `slow` did not end within 1 s and was killed$' pto-build f.ptir -o libf.so --compiler ./slow --set=backend.with.compile-seconds=1
mkdir bin
ln -s "$(command -v gcc)" "$(command -v pto-build)" bin
ln -s "$(command -v as)" "$(command -v ld)" bin
fails 3 '^pto-build: error: \[E1614\] the program `objcopy` is in no folder of $PATH; the Debian package `binutils` has it$' env PATH="$PWD/bin" "$(command -v pto-build)" f.ptir -o f.o
fails 5 '^pto-build: error: \[E1614\] the library cannot be made: temporary folder `/proc/pto-native-' env TMPDIR=/proc pto-build f.ptir -o libf.so
# A file system of its own that is full, where that is allowed.
mkdir small
if unshare -m true 2>/dev/null; then
  cat >on-small.sh <<'END'
mount -t tmpfs -o "$1,mode=700" tmpfs small && TMPDIR=$PWD/small pto-build f.ptir -o libf.so
END
  fails 5 'error: \[E1614\] the library cannot be made: temporary folder `.*/small/.*` cannot be written: No space left on device$' unshare -m sh on-small.sh nr_inodes=3
  fails 5 '/small/.*/pto/.*\.h: error: \[E1501\] cannot write: No space left on device$' unshare -m sh on-small.sh size=16k
fi
mkdir -p moved/bin && cp "$(command -v pto-build)" moved/bin
fails 3 '^pto-build: error: \[E1614\] the runtime of libraries, `.*/moved/lib/pto/libpto_runtime.a`, cannot be read: No such file or directory$' env PTO_PLUGIN_PATH="$TEST_BUILD/lib/pto/plugins-1" PTO_PIPELINE_PATH="$TEST_BUILD/share/pto/pipelines" moved/bin/pto-build f.ptir -o libf.so
fails 74 '^missing/f.h: error: \[E1501\] cannot create: No such file or directory$' pto-build f.ptir -o libf.so --header missing/f.h
fails 74 '^missing/libf.so: error: \[E1501\] cannot create: No such file or directory$' pto-build f.ptir -o missing/libf.so
fails 74 '^/dev/full: error: \[E1501\] cannot write: No space left on device$' pto-build f.ptir -o libf.so --header /dev/full
ln -s nothing/f.h f.h
fails 74 '^f.h: error: \[E1501\] cannot create: No such file or directory$' pto-build f.ptir -o libf.so --header f.h
rm f.h
[ ! -e libf.so ] && [ ! -e f.o ] || fail "something was written"
[ "$(find . -name 'libf*' -o -name 'f.h*')" = '' ] || fail "a temporary file is left"
echo kept >libf.so
fails 74 '^/dev/full: ' pto-build f.ptir -o libf.so --header /dev/full
says_line kept libf.so
fails 5 'E1614' pto-build f.ptir -o libf.so --compiler ./broken
says_line kept libf.so

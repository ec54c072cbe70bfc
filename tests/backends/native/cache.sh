# What pto.native compiled is kept; a cache that cannot be used is a warning, and never a wrong or missing result.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD/cache"
folder=cache/pto/native-1
negation >f.ptir
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
program counts "echo x >>'$PWD/count'
exec gcc \"\$@\""
program native 'exec pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.compiler=./counts "$@"'
compiled() {
  found=$(sed -n '$=' count)
  [ "$found" -eq "$1" ] || fail "compiled $found times, expected $1"
}
quiet() {
  ends 0 ./native "$@"
  [ ! -s text ] || fail 'it has something to say'
}
warns() {
  pattern=$1
  shift
  ends 0 ./native "$@"
  says "f.ptir:1:1: warning: \[pto.native/cache\] $pattern; this run compiled what it needs"
  [ "$(grep -c 'warning' text)" -eq 1 ] || fail 'it says more'
}

quiet
quiet
compiled 1
[ "$(stat -c %a $folder)" = 700 ] || fail 'others can read it'
quiet --set=backend.with.cache=false
compiled 2
quiet --set=backend.with.cache-dir=other
quiet --set=backend.with.cache-dir=other
compiled 3
# Threads and the like do not change what is compiled.
quiet --set=backend.with.threads=2 --set=backend.with.compile-seconds=50
compiled 3

# Of 0 bytes nothing is kept, nor looked for. Settings of a cache that is not there are said to have no effect.
quiet --set=backend.with.cache-bytes=0
compiled 4
[ "$(find $folder -type f | wc -l)" -eq 1 ] || fail 'it was kept, or what was there is gone'
unused() { # OPTION WHY ARGUMENTS..
  said="f.ptir:1:1: warning: \[pto.native/cache\] option \`$1\` has no effect where nothing is kept: $2 "
  shift 2
  ends 0 ./native "$@"
  says "$said"
  [ "$(grep -c 'warning' text)" -eq 1 ] || fail 'it says more'
}
unused cache-dir '`cache` is false' --no-cache --set=backend.with.cache-dir=third
unused cache-bytes '`cache` is false' --no-cache --set=backend.with.cache-bytes=1MiB
unused cache-bytes '`cache` is false' --set=backend.with.cache=false --set=backend.with.cache-bytes=0
unused cache-dir '`cache-bytes` is 0' --set=backend.with.cache-bytes=0 --set=backend.with.cache-dir=third
[ ! -e third ] || fail 'a folder was made'
compiled 8

# Damaged: cut, changed in one byte, emptied.
file=$(echo $folder/*.so)
cp "$file" whole.so
for damage in 'truncate -s -1' 'truncate -s 0' 'printf x | dd conv=notrunc bs=1 seek=2000 status=none of='; do
  case $damage in *=) eval "$damage$file" ;; *) $damage "$file" ;; esac
  warns 'file `.*native-1/[0-9a-f]*.so` of the cache is not what was written'
  quiet
  cmp -s "$file" whole.so || complain "after $damage the file is another one"
done
compiled 11

# A folder or a link in the place of a file of ours goes, unless the folder is not empty: then it says what to do.
key=${file%.so}
mkdir precious
echo data >precious/thesis
for name in "$file" "$key.lock" "$key.tmp"; do
  for spoil in mkdir "ln -s $PWD/precious"; do
    rm "$file"
    $spoil "$name"
    case $name in *.so) warns 'file `.*native-1/[0-9a-f]*.so` of the cache is not what was written' ;; *) quiet ;; esac
    before=$(wc -l <count)
    quiet
    compiled "$before"
  done
  rm "$file"
  mkdir -p "$name/own"
  in_the_way="\`.*native-1/[0-9a-f]*.${name##*.}\` is a folder that is not empty, where a file of the cache belongs; remove it"
  warns "$in_the_way"
  warns "$in_the_way"
  rmdir "$name/own" "$name"
  quiet
done
[ "$(cat precious/thesis)" = data ] || fail 'what a link leads to was changed'

# Of others.
chmod 777 $folder
warns 'cache folder `.*native-1` can be written by others (mode 0777, expected 0700)'
chmod 700 $folder
if [ "$(id -u)" -eq 0 ]; then
  chown 12345 $folder
  warns 'cache folder `.*native-1` belongs to user 12345, not to user 0, which runs this'
  chown 0 $folder
fi
warns 'cache folder `/proc/none` cannot be opened: No such file or directory' --set=backend.with.cache-dir=/proc/none
unset XDG_CACHE_HOME
home=$HOME
unset HOME
warns 'neither \$XDG_CACHE_HOME nor \$HOME is an absolute path'
export XDG_CACHE_HOME="$PWD/cache" HOME="$home"
quiet

# Read-only, and full: a file system of its own, where that is allowed.
mkdir small
if unshare -m true 2>/dev/null; then
  sed 's/tensor.neg/tensor.abs/' f.ptir >other.ptir
  cat >in-a-mount.sh <<'END'
set -e
mount -t tmpfs -o size=8k,mode=700 tmpfs small
pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.cache-dir=small 2>full
[ -z "$(ls small)" ]
mount -o remount,size=1m small
pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.cache-dir=small 2>fits
mount -o remount,ro small
pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.cache-dir=small 2>found
pto-run other.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.cache-dir=small 2>read-only
END
  ends 0 unshare -m sh in-a-mount.sh
  says 'warning: \[pto.native/cache\] cache folder `small` cannot be written: No space left on device' full
  [ ! -s fits ] || fail 'a cache with space is not used'
  [ ! -s found ] || fail 'what a cache has that is read-only is not used'
  says 'warning: \[pto.native/cache\] cache folder `small` cannot be written: Read-only file system' read-only
fi

# Two at once: compiled once or twice, and both are right.
before=$(wc -l <count)
for try in 1 2 3 4 5 6; do
  rm -f $folder/*.so
  ./native >one 2>&1 &
  first=$!
  ./native >two 2>&1 || complain "try $try: the second run failed"
  wait $first || complain "try $try: the first run failed"
  [ "$(find $folder -type f | wc -l)" -eq 1 ] || complain "try $try: something else is in the cache"
done
now=$(wc -l <count)
[ $((now - before)) -le 12 ] && [ $((now - before)) -ge 6 ] || complain "6 pairs of runs compiled $((now - before)) times"

# A run that is killed while it compiles leaves a lock that nobody holds: the next run takes it and is well.
rm -f $folder/*.so
program slow "echo \$\$ >>'$PWD/child'
sleep 1000"
pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --set=backend.with.compiler=./slow >killed 2>&1 &
run=$!
tries=0
while [ ! -s child ] && [ $tries -lt 2000 ]; do
  sleep 0.01
  tries=$((tries + 1))
done
[ "$(find $folder -name '*.lock' | wc -l)" -eq 1 ] || fail 'no lock while it compiles'
# Its worker, too: the one whose child is the compiler.
kill -9 $run
wait $run
while read -r compiler; do kill -9 "$compiler"; done <child
quiet
quiet
ends 0 pto-plugin cache
says ': 1 file, [1-9]' out
[ "$(find $folder -type f | wc -l)" -eq 1 ] || fail 'something of the killed run is left'

# A disk that is full where the compiler works, as with a limit of file sizes: nothing is left.
rm -f $folder/*.so
printf '#!/bin/sh\nulimit -f 4\ntrap "" XFSZ\nexec ./native\n' >limited
chmod +x limited
fails 5 'f.ptir:1:1: error: \[pto.native/cannot-write\] temporary folder `.*` cannot be written: File too large' ./limited
[ "$(find $folder pto-native-* -type f | wc -l)" -eq 0 ] || fail 'half a file is left'
quiet

# A compiler that ends well and leaves something else: nothing of it is kept, and the next run is well.
rm -f $folder/*.so
odd() { # WHAT_IT_DOES WHY
  program counts "gcc \"\$@\" && case \$* in *module.so*) $1 ;; esac"
  fails 5 "f.ptir:1:1: error: \[pto.native/load\] what C compiler \`counts\` made is not a module: $2 " ./native
  [ "$(find $folder pto-native-* -mindepth 1 | wc -l)" -eq 0 ] || fail 'something of it is kept'
}
odd 'truncate -s 3000 module.so' 'it has 3000 bytes, which are not all of a shared object'
odd 'rm module.so; mkfifo module.so' 'it is not a file'
odd "cp $(gcc -print-file-name=libm.so.6) module.so" 'it has no symbol `pto_native_module_v1`'
program counts 'exec gcc "$@"'
quiet
quiet

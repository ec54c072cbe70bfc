# A compiler, objcopy or ar that ends with status 0 and left something else than what it was to make: the error names
# it, and nothing is delivered.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation >f.ptir
real=$(command -v gcc)
mkdir bin
ln -s "$(command -v pto-build)" "$(command -v as)" "$(command -v ld)" "$(command -v objcopy)" "$(command -v ar)" bin

# program NAME: the shell script of standard input is a program in the folder, in which `$out` is what follows -o.
program() {
  rm -f "bin/$1"
  { printf '#!/bin/sh\nPATH=/usr/bin:/bin\nprevious= out=\nfor word; do [ "$previous" != -o ] || out=$word; previous=$word; done\n'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}
# leaves TEXT KIND: the program is blamed for that.
leaves() {
  fails 5 "^pto-build: error: \[E1614\] the library cannot be made: \`$PWD/bin/$1$" env PATH="$PWD/bin" pto-build f.ptir -o "f$2" --header f.h
  [ ! -e "f$2" ] && [ ! -e f.h ] || fail 'something was delivered'
}
program gcc <<'END'
printf garbage >"$out"
END
for kind in .so .a .o; do
  leaves 'gcc` ended with status 0, but its output `module.o` is not an ELF file of 64 bits; it has 7 bytes' $kind
done
program gcc </dev/null
leaves 'gcc` ended with status 0, but its output `module.o` is not there: No such file or directory' .so
program gcc <<'END'
mkdir "$out"
END
leaves 'gcc` ended with status 0, but its output `module.o` is not a regular file' .so

# Only what it links is cut short, empty, or of another kind.
program gcc <<END
$real "\$@" || exit 1
[ "\$out" != result ] || truncate -s 3000 result
END
leaves 'gcc` ended with status 0, but its output `result` has 3000 bytes, and what its headers tell of ends at [0-9]*' .so
program gcc <<END
[ "\$out" = result ] || exec $real "\$@"
END
leaves 'gcc` ended with status 0, but its output `result` is not there: No such file or directory' .so
program gcc <<END
$real "\$@" || exit 1
[ "\$out" != result ] || cp wrapper.o result
END
leaves 'gcc` ended with status 0, but its output `result` is an ELF file of type 1, not 3' .so

program gcc <<END
exec $real "\$@"
END
program objcopy <<'END'
truncate -s -1 f.o
END
leaves 'objcopy` ended with status 0, but its output `f.o` has [0-9]* bytes, and what its headers tell of ends at [0-9]*' .a
ln -sf "$(command -v objcopy)" bin
program ar <<'END'
printf '!<arch>\nshort' >result
END
leaves 'ar` ended with status 0, but its output `result` has 13 bytes, and what its headers tell of ends at 68' .a
program ar <<'END'
/usr/bin/ar "$@" && truncate -s -1 result
END
leaves 'ar` ended with status 0, but its output `result` has [0-9]* bytes, and what its headers tell of ends at [0-9]*' .a
program ar <<'END'
echo none >result
END
leaves 'ar` ended with status 0, but its output `result` is not an archive; it has 5 bytes' .a

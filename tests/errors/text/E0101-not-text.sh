# A byte order mark, a NUL byte and invalid UTF-8: one diagnostic each, at the byte, and nothing else is read.
set -e
. "$TEST_ROOT/tests/shell.sh"
refuses_file() { # FILE PLACE TEXT
  not pto-opt "$1" 2>text || fail "$1 is taken"
  grep -qxF "$1:$2: error: [E0101] $3" text || fail
  [ "$(grep -c error: text)" -eq 1 ] || fail
}
printf 'func @f() {\n  ret\000urn\n}\n' >nul.ptir
refuses_file nul.ptir 2:6 'a NUL byte; the input is not text'
printf 'func @f() {\n  // caf\303\251 \377\n  oops\n}\n' >utf8.ptir
refuses_file utf8.ptir 2:12 'the byte 0xff is not valid UTF-8 here'
printf '// \355\240\200\noops\n' >surrogate.ptir
refuses_file surrogate.ptir 1:4 'the byte 0xed is not valid UTF-8 here'
printf '// \300\257\noops\n' >overlong.ptir
refuses_file overlong.ptir 1:4 'the byte 0xc0 is not valid UTF-8 here'
printf '// \303' >cut.ptir
refuses_file cut.ptir 1:4 'the byte 0xc3 is not valid UTF-8 here'
printf '\357\273\277func @f() {\n  oops\n}\n' >mark.ptir
refuses_file mark.ptir 1:1 'the text begins with a byte order mark; save it without one'

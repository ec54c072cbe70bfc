# A NUL byte and invalid UTF-8: one diagnostic each, at the byte, and nothing else is read.
set -eu
cd "$TEST_TMP"
printf 'func @f() {\n  ret\000urn\n}\n' >nul.ptir
printf 'func @f() {\n  // caf\303\251 \377\n  oops\n}\n' >utf8.ptir
not pto-opt nul.ptir 2>nul.txt
grep -q '^nul.ptir:2:6: error: \[E0101\] a NUL byte; the input is not text$' nul.txt
not pto-opt utf8.ptir 2>utf8.txt
grep -q '^utf8.ptir:2:12: error: \[E0101\] the byte 0xff is not valid UTF-8 here$' utf8.txt
[ "$(grep -c error: utf8.txt)" -eq 1 ]

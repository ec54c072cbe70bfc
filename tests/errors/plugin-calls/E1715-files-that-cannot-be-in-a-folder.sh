# What a code generator calls its files: each once, by a plain name. Nothing is written otherwise.
. "$TEST_ROOT/tests/shell.sh"
negation >f.ptir
opt() { pto-opt f.ptir --plugin="$TEST_PLUGINS/liar-files.so" --pipeline=default.yaml --set="backend.with.generator={ use: test.liar-files, with: { says: $1 } }" -o tree/; }
status=0
opt twice >out 2>text || status=$?
[ "$status" -eq 5 ] || fail "status $status"
says '^a.c: error: \[E1715\] the code generator writes this file twice$'
status=0
opt folder >out 2>text || status=$?
[ "$status" -eq 5 ] || fail "status $status"
says '^a/b.c: error: \[E1715\] the code generator writes a file that has no plain name$'
[ ! -e tree ] || fail 'a refused run left a folder'
# What is written before a file begins goes into one.
opt nothing >out 2>text || fail 'text without a name'
[ "$(cat tree/module.txt)" = text ] || fail 'text without a name'

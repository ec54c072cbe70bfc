# The commands of docs/checking.md work when pasted, and its numbers are those of the code.
. "$TEST_ROOT/tests/shell.sh"
! is_sanitized || exit 0
ln -s "$TEST_ROOT/examples" examples
page=$TEST_ROOT/docs/checking.md
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >commands
[ "$(wc -l <commands)" -eq 5 ] || fail "not five commands: $(cat commands)"
while IFS= read -r command; do
  sh -c "$command" >log 2>&1 || fail "$command"
done <commands
[ -s compile.json ] && [ -s ffn.exec.ptir ] || fail "files are not written"
grep '^bisect: ' "$page" >lines
last=$(sed -n 's/^bisect: running pass (\([0-9]*\)).*/\1/p' lines)
pto-opt examples/ffn/ffn.ptir --pipeline=default.yaml --bisect="$last" -o out.ptir 2>text || fail "bisect"
while IFS= read -r line; do grep -qxF "$line" text || fail "not said: $line"; done <lines

# The two numbers of elements on the page: what is refused says its limit, and what was run stays below the other.
number() { sed -n "s/.*$1 \([0-9,]*\) elements.*/\1/p" "$page" | tr -d ,; }
printf 'func @f(%%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {\n  %%y = tensor.neg %%x : tensor<$N x 8 x f32>\n  return %%y\n}\n' >f.ptir
fails 2 "error: \[E1903\] .* the limit is $(number 'results of more than')\$" pto-opt f.ptir --passes=pto.canonicalize --check=semantics --sym N=4000000 -o out.ptir
ends 0 pto-opt f.ptir --passes=pto.canonicalize --check=semantics -o out.ptir
largest=$(sed -n 's/^semantics: @f on random inputs, \$N = \([0-9]*\)$/\1/p' text | sort -n | tail -n 1)
limit=$(number 'as large as')
[ $((largest * 16)) -le $((limit * 11 / 10)) ] && [ $((largest * 16)) -ge $((limit / 4)) ] || fail "N = $largest, and $limit elements on the page"

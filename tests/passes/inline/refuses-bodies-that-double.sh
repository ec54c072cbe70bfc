# Forty functions of which each calls the next one twice stand for 2^40 ops; the number is known before anything is
# copied. A chain of 3000 functions is inlined.
. "$TEST_ROOT/tests/shell.sh"
t='tensor<4 x f32>'
functions() { # COUNT CALLS
  echo "func @f0(%x: $t) -> $t {
  %y = call @f1(%x) : $t
  return %y
}"
  i=1
  while [ $i -lt "$1" ]; do
    echo "func private @f$i(%x: $t) -> $t {"
    [ "$2" = 1 ] || echo "  %z = call @f$((i + 1))(%x) : $t"
    echo "  %y = call @f$((i + 1))(%$([ "$2" = 1 ] && echo x || echo z)) : $t
  return %y
}"
    i=$((i + 1))
  done
  echo "func private @f$1(%x: $t) -> $t {
  %y = tensor.neg %x : $t
  return %y
}"
}
functions 40 2 >m.ptir
ends 5 pto-opt m.ptir --passes=pto.inline
says 'error: \[pto.inline/too-large\] would make more than 100000 ops of `@f2[0-9]`, with [0-9]* of `@f2[0-9]`; raise the option `max-ops`'
functions 3000 1 >m.ptir
ends 0 pto-opt m.ptir --passes=pto.inline
printf 'func @f0(%%x: %s) -> %s {\n  %%y = tensor.neg %%x : %s\n  return %%y\n}\n' "$t" "$t" "$t" | cmp -s - out || fail
ends 5 pto-opt m.ptir '--passes=pto.inline{max-ops=2000}'

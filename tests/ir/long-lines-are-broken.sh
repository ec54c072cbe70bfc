# What is in many lines of a text is printed so that no line is longer than what is read, in both forms.
set -eu
list() { # list COUNT FORMAT: numbers in the format, one to a line
  awk -v n="$1" -v f="$2" 'BEGIN { for (i = 0; i < n; i++) printf f "%s\n", i, i + 1 < n ? "," : "" }'
}
t='tensor<4 x f32>'
{ echo 'func @f('; list 60000 "%%parameter_%d: $t"; echo ") -> $t where ("; list 60000 '$B >= %d' | sed 's/\$B/2 * 3/'; echo ') {
  return %parameter_0
}'; } >parameters.ptir
{ echo "func @f(%x: $t) -> $t {
  %y = tensor.neg %x {n.list = ["; list 250000 %d; echo "], n.text = \"a  b \\\" c\"} : $t
  return %y
}"; } >attribute.ptir
{ echo 'func private @g('; list 30000 "%%a%d: $t"; echo ") -> $t {
  return %a0
}
func @f(%value_whose_name_is_long_so_that_it_takes_room: $t) -> $t {
  %y = call @g("; list 30000 %d | sed 's/[0-9]*/%value_whose_name_is_long_so_that_it_takes_room/'; echo ") : $t
  return %y
}"; } >call.ptir
for f in parameters attribute call; do
  pto-opt $f.ptir -o once.ptir
  [ "$(awk 'length > n { n = length } END { print n }' once.ptir)" -lt 140000 ]
  [ "$(wc -c <once.ptir)" -gt 1048576 ]
  pto-opt once.ptir | cmp - once.ptir
  pto-opt $f.ptir --print-generic -o generic.mlir
  [ "$(awk 'length > n { n = length } END { print n }' generic.mlir)" -lt 140000 ]
  pto-opt generic.mlir | cmp - once.ptir
  ! command -v mlir-opt-19 >/dev/null || mlir-opt-19 --allow-unregistered-dialect generic.mlir -o /dev/null
done

# --time-limit while a long text is read: the parser stops by itself, at a place, with status 75.
set -u
awk 'BEGIN {
  t = "tensor<4 x f32>"
  print "func @f(%y0: " t ") -> " t " {"
  for (i = 0; i < 1500000; i++) print "  %y" i + 1 " = tensor.neg %y" i " : " t
  print "  return %y" i "\n}"
}' >long.ptir
# It takes seconds to read; of the limits that are tried one comes after its first line.
exits 75 reaches E0117 pto-opt long.ptir -o out.ptir >text || { cut -c1-200 text; exit 1; }
grep -qE '^long.ptir:[0-9]+:[0-9]+: error: \[E0117\] the time ran out while the text was read$' text &&
  tail -n 1 text | grep -qx 'pto-opt: the time limit of [0-9.]* s ran out outside any plugin, while reading the module' && [ ! -e out.ptir ] || { cut -c1-200 text; exit 1; }

# The parser returns the front of a large file to the system while it reads on: the module and the messages are the
# same as if it had kept it, also for lines that are gone by then.
set -eu
# functions FROM TO: each of 40 ops, about 2 KB.
functions() {
  awk -v from="$1" -v to="$2" 'BEGIN {
    t = "tensor<64 x 64 x f32>"
    for (f = from; f <= to; f++) {
      printf "func @f%d(%%a: %s) -> %s {\n  %%0 = tensor.add %%a, %%a : %s\n", f, t, t, t
      for (i = 1; i < 40; i++) printf "  %%%d = tensor.mul %%%d, %%a : %s\n", i, i - 1, t
      printf "  return %%39\n}\n"
    }
  }'
}
functions 1 3000 >good.ptir
[ "$(wc -c <good.ptir)" -gt 5000000 ]
pto-opt good.ptir | cmp - good.ptir
pto-opt - <good.ptir >back.ptir
cmp back.ptir good.ptir
head -c 4194304 good.ptir >page.ptir # whole pages, cut somewhere
exits 4 pto-opt page.ptir 2>page.txt
grep -q '^page.ptir:[0-9]*:[0-9]*: error: ' page.txt

# An error at the front and one at the end, which repeats a name from the front.
{
  printf 'func @bad() {\n  %%0 = tensor.nonsense : tensor<4 x f32>\n  return\n}\n'
  cat good.ptir
  printf 'func @also() {\n  %%x = tensor.add %%y, %%y : tensor<4 x f32>\n  return\n}\n'
} >two.ptir
exits 4 pto-opt two.ptir 2>two.txt
grep -A 2 '^two.ptir:2:8: error: \[E0109\]' two.txt | grep -qx '  %0 = tensor.nonsense : tensor<4 x f32>'
grep -A 2 '^two.ptir:[0-9]*:19: error: \[E0110\]' two.txt | grep -qx '  %x = tensor.add %y, %y : tensor<4 x f32>'

# Found by the verifier, when all is read.
{
  cat good.ptir
  printf 'func @f1() {\n  return\n}\n'
} >twice.ptir
exits 4 pto-opt twice.ptir 2>twice.txt
grep -A 1 '^twice.ptir:.*@f1' twice.txt | grep -q '^func @f1('

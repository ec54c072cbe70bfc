# What tiles cost is found out once for groups that differ in names and numbers alone, in one function or in several,
# and anew for those that differ in anything else, such as what they state of a symbol. What is decided is the same,
# costs included.
. "$TEST_ROOT/tests/shell.sh"

softmax() { # NAME ROWS COLUMNS FACTS
  full="tensor<$2 x $3 x f32>" narrow="tensor<$2 x 1 x f32>"
  cat <<END
func @$1(%x: $full) -> $full $4 {
  %m = tensor.reduce_max %x {axis = 1} : $narrow
  %d = tensor.sub %x, %m : $full
  %e = tensor.exp %d : $full
  %s = tensor.reduce_sum %e {axis = 1} : $narrow
  %y = tensor.div %e, %s : $full
  return %y
}
END
}
binary() { # NAME OP TYPE [NUMBER]
  cat <<END
func @$1(%x: tensor<$3>) -> tensor<$3> {
  %c = tensor.constant {value = ${4:-1.5}} : tensor<$3>
  %y = tensor.$2 %x, %c : tensor<$3>
  return %y
}
END
}
compile() { # NAME: `counted` is how many tiles were counted for their price, NAME.yaml what was decided
  pto-opt "$1.ptir" --pipeline=default.yaml --stats --emit-schedule="$1.yaml" -o "$1.out" 2>text ||
    fail "$1.ptir is not compiled"
  counted=$(sed -n 's/^ *\([0-9]*\)  tiles counted for their price$/\1/p' text)
}
decided() { # FILE FUNCTION
  awk -v at="at: \"@$2/" '/ at: /{ on = index($0, at) } on' "$1" | sed "s/@$2\//@f\//; s/\/$2_/\/f_/"
}

softmax a 128 256 '' >a.ptir
softmax b 128 300 '' >b.ptir
binary c add '128 x 256 x f32' >c.ptir
binary d add '128 x 256 x f16' >d.ptir
binary e pow '128 x 256 x f32' >e.ptir
softmax g "\$N" 256 "where (\$N <= 16)" >g.ptir
softmax h "\$N" 256 "where (\$N >= 4096)" >h.ptir
softmax i "\$N" 256 '' >i.ptir
sum=0
for f in a b c d e g h i; do
  compile $f
  [ "$counted" -gt 0 ] || complain "$f: no tile was counted"
  sum=$((sum + counted))
  cat $f.ptir
done >all.ptir
for f in a b c d e g h i; do sed "s/@$f/@$f$f/" $f.ptir; done >>all.ptir
binary ccc add '128 x 256 x f32' 7.25 >>all.ptir
compile all
[ "$counted" -eq "$sum" ] || complain "$counted tiles were counted for all functions and $sum for one of each"
for f in a b c d e g h i; do
  decided $f.yaml $f >alone
  decided all.yaml $f >first
  cmp alone first || complain "@$f is decided otherwise beside others"
done
for f in a b c d e g h i; do
  decided $f.yaml $f >alone
  decided all.yaml $f$f >again
  cmp alone again || complain "@$f$f is decided otherwise than @$f"
done

# In one function, of an extent that is not known.
{
  echo 'func @f(%x: tensor<$N x 256 x f32>) -> (tensor<$N x 256 x f32>, tensor<$N x 256 x f32>, tensor<$N x 256 x f32>) {'
  for i in 1 2 3; do
    echo "  %c$i = tensor.constant {value = $i.5} : tensor<\$N x 256 x f32>"
    echo "  %y$i = tensor.mul %x, %c$i : tensor<\$N x 256 x f32>"
  done
  echo '  return %y1, %y2, %y3'
  echo '}'
} >three.ptir
binary f mul "\$N x 256 x f32" >lone.ptir
compile lone
wanted=$counted
compile three
[ "$counted" -eq "$wanted" ] || complain "$counted tiles were counted for three groups and $wanted for one"

# Symbols of ops are of their function alone: it may say something else of that name.
bound() { # NAME MOST
  cat <<END
func @$1(%x: tensor<\$N x 256 x f32>, %k: index) -> tensor<\$N x 256 x f32> {
  bind \$m = %k in [1, $2]
  %v = tensor.view %x [0, 0] : tensor<\$m x 256 x f32>
  %e = tensor.exp %v : tensor<\$m x 256 x f32>
  %y = tensor.assemble %e, %x [0, 0] : tensor<\$N x 256 x f32>
  return %y
}
END
}
sum=0
for most in 4 4096; do
  bound f $most >some.ptir
  compile some
  sum=$((sum + counted))
done
{ bound f 4 && bound g 4096; } >both.ptir
compile both
[ "$counted" -eq "$sum" ] || complain "$counted tiles were counted for two functions that bind a symbol, $sum for each"

# The option `perturb`: random errors as large as the rules of comparison allow, in every float result and nowhere else; the same
# seed gives the same ones; at every level.
set -u
cat >chain.ptir <<'END'
func @chain(%x: tensor<37 x 8 x f32>) -> (tensor<37 x 8 x f32>, tensor<37 x 8 x f32>, tensor<8 x 37 x f32>) {
  %e = tensor.exp %x : tensor<37 x 8 x f32>
  %n = tensor.neg %x : tensor<37 x 8 x f32>
  %t = tensor.transpose %n {perm = [1, 0]} : tensor<8 x 37 x f32>
  return %e, %n, %t
}
END
cat >whole.ptir <<'END'
func @whole(%x: tensor<37 x 8 x i32>) -> tensor<37 x 8 x i32> {
  %e = tensor.add %x, %x : tensor<37 x 8 x i32>
  return %e
}
END
# Terms of both signs cancel: the errors are those of the sum of magnitudes.
cat >sum.ptir <<'END'
func @sum(%x: tensor<4 x 1 x f32>) -> tensor<4 x 1 x f32> {
  %c = tensor.constant {value = dense [1.0, -1.0] : tensor<2 x f32>} : tensor<2 x f32>
  %b = tensor.broadcast %c : tensor<4 x 32 x 2 x f32>
  %t = tensor.reshape %b : tensor<4 x 64 x f32>
  %s = tensor.reduce_sum %t {axis = 1} : tensor<4 x 1 x f32>
  return %s
}
END
run() { # SEED MODULE OPTIONS..
  seed=$1 module=$2
  shift 2
  printf 'pto-pipeline: 1\npasses: []\nbackend: { use: pto.reference, with: { perturb: %s } }\n' "$seed" >p.yaml
  pto-run "$module" --pipeline=p.yaml --random-inputs 1 "$@" >out.txt 2>&1
}
wants() { # STATUS WHAT SEED MODULE OPTIONS..
  wanted=$1 what=$2
  shift 2
  run "$@"
  got=$?
  [ $got -eq "$wanted" ] && return
  echo "$what: wanted $wanted, got $got"
  cat out.txt
  exit 1
}
wants 0 plain 0 chain.ptir --out e=e.npy --out n=n.npy --out t=t.npy
wants 0 "seed 1" 1 chain.ptir --out e=e1.npy
wants 1 "errors in exp" 1 chain.ptir --expect e=e.npy
wants 1 "errors of half the size at least" 1 chain.ptir --expect e=e.npy --rtol 2.3e-7
wants 0 "no larger ones" 1 chain.ptir --expect e=e.npy --rtol 5.4e-7
wants 0 "none in what is exact" 1 chain.ptir --expect n=n.npy --expect t=t.npy
wants 0 "the same seed" 1 chain.ptir --expect e=e1.npy
wants 1 "another seed" 2 chain.ptir --expect e=e1.npy
wants 0 "plain integers" 0 whole.ptir --out e=i.npy
wants 0 "none in integers" 1 whole.ptir --expect e=i.npy
# 64 terms of 1: sqrt(64) * 64 * 2^-21 = 2.4e-4, half of it at least.
wants 0 "plain sum" 0 sum.ptir --out s=s.npy
wants 1 "sums: half of it at least" 1 sum.ptir --expect s=s.npy --atol 1.2e-4
wants 0 "sums: no more" 1 sum.ptir --expect s=s.npy --atol 2.5e-4
# The same in instructions; the bound of their sums is not below.
pto-opt chain.ptir --pipeline=default.yaml -o low.ptir || exit 1
wants 1 "instructions" 1 low.ptir --expect e=e.npy --rtol 2.3e-7
wants 0 "instructions: no larger ones" 1 low.ptir --expect e=e.npy --rtol 6.0e-7
wants 0 "instructions: none in what is exact" 1 low.ptir --expect n=n.npy --expect t=t.npy
pto-opt "$TEST_ROOT/examples/gemm/gemm.ptir" --pipeline=default.yaml -o gemm.ptir || exit 1
wants 0 "plain gemm" 0 gemm.ptir --sym M=5 --sym N=7 --sym K=16 --out c=c.npy
wants 1 "gemm" 1 gemm.ptir --sym M=5 --sym N=7 --sym K=16 --expect c=c.npy --atol 1e-6
wants 0 "gemm: bounded" 1 gemm.ptir --sym M=5 --sym N=7 --sym K=16 --expect c=c.npy --atol 1e-4

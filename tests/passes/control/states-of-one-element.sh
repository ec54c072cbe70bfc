# A loop in one nest whose state is a tensor without dims, which is copied at the end of an iteration: the divisor of
# two integers, on every pipeline.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %g = tensor.gcd %x, %y : tensor<i64>
  return %g
}
END
cat >check.py <<'END'
import math, subprocess, sys
import numpy
for x, y in ((0, 0), (12, 0), (-12, 18), (2**40 * 3, 2**33 * 5), (10**12 + 39, 10**6 + 3), (-(2**63) + 1, 7)):
    numpy.save("x.npy", numpy.array(x, numpy.int64))
    numpy.save("y.npy", numpy.array(y, numpy.int64))
    for pipeline in sys.argv[1:]:
        subprocess.run(["pto-run", "f.ptir", f"--pipeline={pipeline}", "--in=x=x.npy", "--in=y=y.npy", "--out=g=g.npy"], check=True)
        if int(numpy.load("g.npy")) != math.gcd(x, y):
            sys.exit(f"{pipeline}: gcd({x}, {y}) is {numpy.load('g.npy')}")
END
ends 0 /usr/bin/python3 -B check.py reference.yaml default.yaml native.yaml

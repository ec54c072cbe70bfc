"""The polynomials of sdk/include/pto/native_vector_*.h: prints what the headers hold, or with --check HEADER.. looks
whether each of the numbers stands in one of them.

Each is a polynomial of least largest error, weighted as its row says: Lawson's method (iterated weights of least
squares; C. L. Lawson, 1961) on Chebyshev nodes in float64. Coefficients are rounded to f32 one by one from the first
on, and those after it fitted again, so that roundings are made good."""

import math
import re
import sys

import numpy as np

NODES = 3000


def lawson(basis, target, weight, rounds):
    """Coefficients that make max |weight (basis c - target)| small."""
    scale = np.ones(len(target))
    best, best_error = None, math.inf
    for _ in range(rounds):
        w = np.sqrt(scale) * weight
        c = np.linalg.lstsq(basis * w[:, None], target * w, rcond=None)[0]
        error = np.abs(basis @ c - target) * weight
        if error.max() < best_error:
            best, best_error = c, error.max()
        scale = scale * (error / error.max() + 1e-3)
        scale /= scale.mean()
    return best, best_error


def fit(target, weight, low, high, degree, fixed=(), narrow=np.float32):
    """c[0..degree] of sum c[i] x^i; `fixed` are the first ones."""
    k = np.arange(NODES)
    x = (low + high) / 2 + (high - low) / 2 * np.cos((k + 0.5) * np.pi / NODES)
    powers = np.stack([x**i for i in range(degree + 1)], 1)
    size = np.abs(powers).max(0)
    rest, w = target(x), weight(x)
    known = [float(narrow(c)) for c in fixed]
    for i, c in enumerate(known):
        rest = rest - c * powers[:, i]
    for i in range(len(known), degree + 1):
        c, error = lawson(powers[:, i:] / size[i:], rest, w, 60)
        known.append(float(narrow(c[0] / size[i])))
        rest = rest - known[-1] * powers[:, i]
    return known, (np.abs(rest) * w).max()


def series(x, terms):
    return sum(t * x**i for i, t in enumerate(terms))


LN2_REST = float.fromhex("0x1.05c61p-29")


def exp_powers(shift):
    """2^(k/16) e^-shift, and the largest error of them as f32, in ulp of 1."""
    exact = np.exp(math.log(2) / 16 * np.arange(16) - shift)
    held = exact.astype(np.float32).astype(float)
    return held, np.abs(held - exact).max() * 2**23


def exp_bits():
    """PTO_SIXTEENTH_BITS: of those whose low 13 bits are 0, and with room for 256 on both sides."""
    return min(range(2**19 + 512, 2**20 - 256, 512), key=lambda b: exp_powers(b * LN2_REST)[1])


EXP_BITS = exp_bits()
EXP_SHIFT = EXP_BITS * LN2_REST


def exp_rest(r):
    """(e^(r + s) - 1) / (r + s)"""
    return np.expm1(r + EXP_SHIFT) / (r + EXP_SHIFT)


def expm1_rest(r):
    """(e^r - 1 - r) / r^2"""
    near = series(r, [1 / math.factorial(i + 2) for i in range(14)])
    return near


def log_rest(f):
    """(log(1 + f) - f + f^2 / 2) / f^3"""
    near = series(f, [(-1) ** i / (i + 3) for i in range(40)])
    with np.errstate(all="ignore"):
        far = (np.log1p(f) - f + f * f / 2) / f**3
    return np.where(np.abs(f) < 0.15, near, far)


def erf_over_x(z):
    """erf(x) / x - 1, z = x^2"""
    return 2 / math.sqrt(math.pi) * series(z, [(-1) ** i / (math.factorial(i) * (2 * i + 1)) for i in range(40)]) - 1


def minus_log_erfc(a):
    return np.array([-math.log(math.erfc(v)) for v in a])


def sin_rest(z):
    """(sin(r) / r - 1) / r^2, z = r^2"""
    return series(z, [(-1) ** (i + 1) / math.factorial(2 * i + 3) for i in range(14)])


def cos_rest(z):
    """(cos(r) - 1 + r^2 / 2) / r^4, z = r^2"""
    return series(z, [(-1) ** i / math.factorial(2 * i + 4) for i in range(14)])


def asin_rest(z):
    """(asin(s) / s - 1) / s^2, z = s^2"""
    terms, c = [], 1.0
    for i in range(1, 60):
        c *= (2 * i - 1) / (2 * i)
        terms.append(c / (2 * i + 1))
    return series(z, terms)


def atan_rest(z):
    """(atan(t) / t - 1) / t^2, z = t^2"""
    t = np.sqrt(z)
    near = series(z, [(-1) ** (i + 1) / (2 * i + 3) for i in range(60)])
    with np.errstate(all="ignore"):
        far = (np.arctan(t) / t - 1) / z
    return np.where(z < 0.25, near, far)


def scaled_erfc(t):
    """erfc(a) e^(a^2), t = (a - 3) / (a + 3)"""
    a = 3 * (1 + t) / (1 - t)
    # Of large a by the continued fraction, of which libm's product with e^(a^2) would lose digits.
    fraction = np.zeros_like(a)
    for k in range(400, 0, -1):
        fraction = k / 2 / (a + fraction)
    far = 1 / (math.sqrt(math.pi) * (a + fraction))
    near = np.array([math.erfc(v) * math.exp(v * v) for v in np.minimum(a, 5)])
    return np.where(a > 3, far, near)


def log2_over_f(f):
    """log2(1 + f) / f"""
    near = series(f, [(-1) ** i / (i + 1) for i in range(40)])
    with np.errstate(all="ignore"):
        far = np.log1p(f) / f
    return np.where(np.abs(f) < 0.1, near, far) / math.log(2)


half_ln2 = math.log(2) / 2
eighth = (math.pi / 4 * 1.0001) ** 2
f64 = np.float64
# name, target, weight, interval, degree, first coefficients that are given; the type of coefficients
ROWS = [
    ("exp", exp_rest, lambda r: np.abs(r + EXP_SHIFT) * np.exp(-r - EXP_SHIFT), (-half_ln2 / 16 * 1.0001, half_ln2 / 16 * 1.0001), 2, ()),
    ("exp2", np.exp2, lambda x: np.exp2(-x), (-1 / 32, 1 / 32), 3, (1,)),
    ("expm1", expm1_rest, lambda r: np.abs(r * r / np.expm1(r)), (-half_ln2 * 1.0001, half_ln2 * 1.0001), 4, ()),
    ("log", log_rest, lambda f: np.abs(f**3 / np.log1p(f)), (-0.25, 0.5), 7, ()),
    ("erf_near", erf_over_x, lambda z: 1 / (1 + erf_over_x(z)), (0, 0.85**2), 6, ()),
    ("erf_far", minus_log_erfc, lambda a: np.exp(-minus_log_erfc(a)) / (1 - np.exp(-minus_log_erfc(a))), (0.84, 4.1), 8, ()),
    ("sin", sin_rest, lambda z: z / (1 + z * sin_rest(z)), (0, eighth), 2, ()),
    ("cos", cos_rest, lambda z: z * z, (0, eighth), 2, ()),
    ("asin", asin_rest, lambda z: z, (0, 0.25), 4, ()),
    ("atan", atan_rest, lambda z: z / (1 + z * atan_rest(z)), (0, 1), 8, ()),
    ("erfc", scaled_erfc, lambda t: 1 / scaled_erfc(t), (-2.16 / 3.84, 7.1 / 13.1), 8, ()),
    ("pow_log2", log2_over_f, lambda f: 1 / log2_over_f(f), (math.sqrt(0.5) - 1, math.sqrt(2) - 1), 13, (), f64),
    ("pow_exp2", np.exp2, lambda x: np.exp2(-x), (-0.5, 0.5), 7, (1,), f64),
]


def numbers_of(headers):
    """All hexadecimal numbers of the files."""
    text = "".join(open(name, encoding="utf-8").read() for name in headers)
    return [float.fromhex(number) for number in re.findall(r"-?0x[0-9a-f]\.?[0-9a-f]*p[+-][0-9]+", text)]


def main(arguments):
    held = numbers_of(arguments[1:]) if arguments[:1] == ["--check"] else None
    bad = 0
    powers, error = exp_powers(EXP_SHIFT)
    print(f"exp_powers: {error:.2f} ulp", float(EXP_BITS).hex(), " ".join(float(v).hex() for v in powers))
    for value in [float(EXP_BITS), *powers]:
        if held is not None and value not in held:
            print(f"exp_powers: no header holds {value.hex()}")
            bad = 1
    for name, target, weight, (low, high), degree, fixed, *narrow in ROWS:
        c, error = fit(target, weight, low, high, degree, fixed, *narrow)
        print(f"{name}: 2^{math.log2(error):.2f}", " ".join(float(v).hex() for v in c))
        # Another numpy may round otherwise; the last coefficients of a row take that up.
        for value in c[len(fixed) :]:
            if held is not None and value != 1 and not any(abs(v - value) <= 1e-3 * abs(value) for v in held):
                print(f"{name}: no header holds {value.hex()}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

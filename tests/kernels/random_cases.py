"""Random numbers."""
import math

import numpy as np

import elements as el
from tensor_table import SHAPES, case, rounded


def philox(key, counter):
    """The four words of Philox4x32-10 for a counter of 128 bits, as the paper of 2011 has them."""
    c = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


# Known answers of the authors' library.
assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(2**64 - 1, 2**128 - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def random_cases():
    for shape in SHAPES:
        n = math.prod(shape)
        for key, counter in ((0, 0), (1, 2**32 - 1), (0x0123456789ABCDEF, 2**64 - 2), (2**64 - 1, 12345)):
            words = [w for i in range(n // 4 + 1) for w in philox(key, (counter + i) % 2**64)]
            for t, p in ((t, el.FORMATS[t][1] + 1) for t in el.FLOATS):
                want = np.array([(w >> 32 - p) / 2.0**p for w in words[:n]])
                case("random_uniform", f"{t} {shape} {key:x} {counter}", t, rounded(t, want.reshape(shape)), [], key=key, counter=counter)
                u, v = (np.array([w >> 8 for w in words[i::2]], dtype=np.longdouble) for i in (0, 1))
                radius, turn = np.sqrt(-2 * np.log((u + 1) / 2**24)), 2 * np.longdouble(np.pi) * v / 2**24
                want = np.stack([radius * np.cos(turn), radius * np.sin(turn)], -1).ravel()[:n].astype(np.float64)
                case("random_normal", f"{t} {shape} {key:x} {counter}", t, rounded(t, want.reshape(shape)), [], key=key, counter=counter, ulp=1)

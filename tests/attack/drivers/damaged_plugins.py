#!/usr/bin/python3
"""Plugin files, damaged at random in the note, the tables of ELF and anywhere: pto-inspect, pto-plugin lint and pto-opt refuse such a file
or take it. What the loader, or the code of the file, dies of is status 70 and names the file or its plugin."""
import functools
import glob
import os
import struct

import attacking

NAMES = ("canonicalize", "outline", "reference", "order", "tiling-heuristic")


@functools.cache
def plugin(bin_folder, name):
    with open(glob.glob(os.path.join(bin_folder, "..", "lib", "pto", "plugins-1", f"{name}.so"))[0], "rb") as f:
        return f.read()


def spans(elf):
    """[(begin, end)]: the header, the program headers, the sections' headers, and every note, string and dynamic table."""
    ph, sh = struct.unpack_from("<QQ", elf, 32)
    ph_size, ph_count, sh_size, sh_count = struct.unpack_from("<HHHH", elf, 54)
    found = [(0, 64), (ph, ph + ph_size * ph_count), (sh, sh + sh_size * sh_count)]
    for i in range(sh_count):
        _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", elf, sh + i * sh_size)
        if size and kind in (7, 7, 7, 3, 5, 6, 11, 0x6FFFFFF6):
            found += [(offset, offset + size)] * (6 if kind == 7 else 1)
    return found


def check(tools, seed, found):
    r = attacking.chance(seed)
    name = r.choice(NAMES)
    elf = bytearray(plugin(tools.bin, name))
    for _ in range(r.choice((1, 1, 2, 4, 16))):
        begin, end = r.choice(spans(plugin(tools.bin, name))) if r.random() < 0.9 else (0, len(elf))
        at = r.randrange(begin, max(begin + 1, min(end, len(elf))))
        at = min(at, len(elf) - 1)
        elf[at] = r.choice((0, 1, 0x7F, 0xFF, elf[at] ^ 1 << r.randrange(8), r.randrange(256)))
    if r.random() < 0.1:
        del elf[r.randrange(len(elf)):]
    tools.write("x.so", bytes(elf))
    os.chmod(tools.path("x.so"), 0o755)
    tools.write("m.ptir", "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  %y = tensor.neg %x : tensor<4 x f32>\n  return %y\n}\n")
    for words in (("pto-inspect", "plugins", "--plugin=x.so"), ("pto-plugin", "lint", "x.so"), ("pto-opt", "m.ptir", "--plugin=x.so", "--passes=pto.canonicalize", "-o", "o.ptir")):
        status, _, err = tools.run(*words, may=(*attacking.REFUSALS, 6, 70), crashes=True)
        if (status == 70 or "Sanitizer" in err) and not any(text in err for text in ("x.so", "in plugin `", "of plugin `")):
            raise attacking.Wrong(f"{tools.last}: status {status} without a name: {err[:1500]}")
        found[f"{words[0]}: {'taken' if status == 0 else 'died of it' if status == 70 else 'refused'}"] += 1


attacking.main(check)

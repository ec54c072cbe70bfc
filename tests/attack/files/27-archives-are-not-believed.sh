# Zip bombs, members that overlap, lie elsewhere or are called alike, sums that do not fit: all refused, with the file
# and the cause, before memory is taken for what they claim.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
cat >make.py <<'END'
import io, struct, warnings, zipfile
import numpy as np

warnings.simplefilter("ignore")
END, LOCAL, ENTRY = b"PK\5\6", b"PK\3\4", b"PK\1\2"


def member(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def archive(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as z:
        for name, data in members:
            z.writestr(name, data)


def changed(path, *edits, source="good.npz"):
    """An archive with some bytes replaced, each after the last of a marker."""
    data = bytearray(open(source, "rb").read())
    for marker, offset, new in edits:
        at = data.rindex(marker) + offset
        data[at:at + len(new)] = new
    open(path, "wb").write(data)


x = member(np.arange(4, dtype=np.float32))
archive("good.npz", [("x.npy", x), ("y.npy", x)])
archive("text.npz", [("x.npy", b"no array")])
archive("short.npz", [("x.npy", x[:-1])])
archive("folder.npz", [("notes.txt", b"hello"), ("x.npy", x)])
archive("twice.npz", [("x.npy", x), ("x.npy", x)])
archive("bzip2.npz", [("x.npy", x)], zipfile.ZIP_BZIP2)
archive("lzma.npz", [("x.npy", x)], zipfile.ZIP_LZMA)
changed("encrypted.npz", (ENTRY, 8, b"\1"))
changed("sizes.npz", (ENTRY, 24, struct.pack("<I", 1)))
changed("beyond.npz", (ENTRY, 20, struct.pack("<II", 1 << 30, 1 << 30)))
changed("overlap.npz", (ENTRY, 42, struct.pack("<I", 0)), (ENTRY, 46, b"x"))
changed("elsewhere.npz", (ENTRY, 42, struct.pack("<I", 7)))
changed("many.npz", (END, 8, b"\xfe\xff\xfe\xff"))
changed("directory.npz", (END, 12, struct.pack("<I", 1 << 31)))
changed("parts.npz", (END, 4, b"\1\0"))
changed("large.npz", (END, 16, b"\xff" * 4))
open("cut.npz", "wb").write(open("good.npz", "rb").read()[:-5])
archive("deflated.npz", [("x.npy", x)], zipfile.ZIP_DEFLATED)
for name, size in (("bomb.npz", 0xfffffff0), ("less.npz", len(x) + 4), ("more.npz", len(x) - 4)):
    changed(name, (ENTRY, 24, struct.pack("<I", size)), source="deflated.npz")
changed("sum.npz", (ENTRY, 16, b"abcd"), source="deflated.npz")
END
/usr/bin/python3 -B make.py
run="pto-run --backend=pto.reference f.ptir"
is_sanitized || run="$run --memory-limit=2000000000"
refused() { fails 4 "^$1: error: \[E140[15]\] $2" $run --in=x="$1"; }
ends 0 $run --in=x=good.npz:x
ends 0 $run --in=x=folder.npz
ends 0 $run --in=x=deflated.npz
malformed='the .npz archive is malformed:'
refused text.npz:x 'this is not a .npy file'
refused short.npz:x 'the file is truncated: its shape needs 16 bytes of elements, 15 are there$'
refused twice.npz:x 'two tensors of the file are called `x`$'
refused bzip2.npz:x "$malformed a member is neither stored nor deflated$"
refused lzma.npz:x "$malformed a member is neither stored nor deflated$"
refused encrypted.npz:x "$malformed a member is encrypted$"
refused sizes.npz:x "$malformed a stored member has two sizes$"
refused beyond.npz:x "$malformed a member ends beyond the directory$"
refused overlap.npz:x "$malformed two members overlap$"
refused elsewhere.npz:x "$malformed a member is not what the directory says of it$"
refused many.npz:x "$malformed its directory is too short for its members$"
refused directory.npz:x "$malformed its directory lies beyond its end$"
refused parts.npz:x "$malformed it is one part of several$"
refused large.npz:x "$malformed the record of its 64-bit sizes"
refused cut.npz:x 'the archive is truncated: its directory is not at its end$'
refused bomb.npz:x "$malformed a member claims to inflate to more than its bytes can hold$"
refused less.npz:x 'the member does not inflate to the 148 bytes that the archive says$'
refused more.npz:x 'the member does not inflate to the 140 bytes that the archive says$'
refused sum.npz:x 'the member does not have the check sum that the archive says$'

# What is not a .npy file, or a damaged one, is refused with its cause before anything runs; a missing file is a usage
# error.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
# refuses_file FILE TEXT: TEXT is a pattern for a whole line of the messages.
refuses_file() {
  exits 4 pto-run --backend=pto.reference f.ptir "--in=x=$1" 2>"$1.txt"
  grep -qx -- "$2" "$1.txt" || { cat "$1.txt"; exit 1; }
}
npy good.npy "{'descr': '<f4','fortran_order': False,'shape': (2,)}" '\000\000\200\077\000\000\000\100'
exits 0 pto-run --backend=pto.reference f.ptir --in=x=good.npy

printf 'PK\003\004 this is a zip' >zip.npy
refuses_file zip.npy 'zip.npy: error: \[E1401\] this is not a .npy file: it does not begin with \\x93NUMPY'
: >empty.npy
refuses_file empty.npy 'empty.npy: error: \[E1401\] this is not a .npy file: it does not begin with \\x93NUMPY'
printf '\223NUMPY\011\000\066\000{}' >version.npy
refuses_file version.npy 'version.npy: error: \[E1401\] .npy version 9.0 is not supported; versions 1.0, 2.0 and 3.0 are'
head -c 40 good.npy >header.npy
refuses_file header.npy 'header.npy: error: \[E1401\] the .npy header is malformed: the file ends inside the header'
npy key.npy "{'descr': '<f4','order': False,'shape': (2,)}" '\000\000\200\077\000\000\000\100'
refuses_file key.npy 'key.npy: error: \[E1401\] the .npy header is malformed: it has a key other than descr, fortran_order and shape'
npy negative.npy "{'descr': '<f4','fortran_order': False,'shape': (-2,)}" '\000\000\200\077\000\000\000\100'
refuses_file negative.npy 'negative.npy: error: \[E1401\] the .npy header is malformed: an extent of .shape. is not a number .*'

fails 2 '^missing.npy: error: \[E1501\] cannot open: No such file or directory$' pto-run --backend=pto.reference f.ptir --in=x=missing.npy

# Headers that numpy refuses are refused: versions that do not exist, leading zeros, a number for a tuple, text after
# the dictionary.
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
# array VERSION DICTIONARY: two octal numbers and a header of 118 bytes, then two elements.
array() {
  case $1 in
  1.*) length='\166\000' ;;
  *) length='\166\000\000\000' ;;
  esac
  # shellcheck disable=SC2059
  { printf "\\223NUMPY\\00${1%.*}\\00${1#*.}$length"; printf '%-117s\n' "$2"; printf '\000\000\200\077\000\000\000\100'; } >x.npy
}
run() { pto-run --backend=pto.reference f.ptir --in=x=x.npy >out.txt 2>text; }
reads() { array "$1" "$2"; run || fail "$1 $2"; }
refuses_header() { # VERSION DICTIONARY TEXT
  array "$1" "$2"
  run
  [ $? -eq 4 ] && grep -qxF "x.npy: error: [E1401] $3" text || fail "$1 $2"
}
good="{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
for version in 1.0 2.0 3.0; do reads $version "$good"; done
for version in 1.1 2.7 3.1 0.0 4.0; do
  refuses_header $version "$good" ".npy version $version is not supported; versions 1.0, 2.0 and 3.0 are"
done
header='the .npy header is malformed:'
refuses_header 1.0 "{'descr': '<f4', 'fortran_order': False, 'shape': (02,), }" "$header an extent of \`shape\` has leading zeros"
refuses_header 1.0 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 00,), }" "$header an extent of \`shape\` has leading zeros"
refuses_header 1.0 "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }" \
  "$header \`shape\` is a number in parentheses; a tuple of one extent is (3,)"
refuses_header 1.0 "$good x" "$header text follows the dictionary"
refuses_header 1.0 "$good, $good" "$header text follows the dictionary"

# A file that is not there and a folder: path and cause.
set -eu
not pto-opt missing.ptir 2>missing.txt
grep -q '^missing.ptir: error: \[E0115\] cannot be read: No such file or directory$' missing.txt
not pto-opt . 2>folder.txt
grep -q '^\.: error: \[E0115\] cannot be read: it is a directory$' folder.txt

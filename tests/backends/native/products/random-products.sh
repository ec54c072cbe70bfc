# Some of ./dev fuzz large-products: products and attention of many rows, by one, two and many threads, against numpy.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
ends 0 /usr/bin/python3 -B "$TEST_ROOT/tests/fuzz/large_products.py" --bin "$(dirname "$(command -v pto-run)")" --seed 1 --count 20
says_line 'seeds 1 to 20: 20 programs, 0 wrong' out

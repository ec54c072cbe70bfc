# What the tensor passes make of functions is as exact as their head comments say, and NaN and signs of zeros survive.
exec /usr/bin/python3 "$TEST_ROOT/tests/passes/expand-math/inputs/accuracy.py"

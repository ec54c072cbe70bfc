"""Writes the cases of test_tensor_ops: one record for each tensor op, element type and shape, ranks 0 to 8, extents 0 and 1.

usage: make_tensor_ops_tables.py OUT. Records are little-endian; test_tensor_ops.c says how they are read. The modules *_cases.py hold the
cases, by subject; they are made in one order, in which they share random numbers."""
import struct
import sys

import composite_ops
import conv_ops
import elementwise_cases
import index_cases
import quantise_cases
import random_cases
import reduce_cases
import shape_cases
from tensor_table import Array, case, data, out, rng, rounded

MAKERS = (
    elementwise_cases.unary_cases, elementwise_cases.binary_cases, elementwise_cases.pair_cases, elementwise_cases.truth_cases,
    reduce_cases.reduce_cases, shape_cases.iota_cases, reduce_cases.matmul_cases, reduce_cases.follow_cases,
    reduce_cases.composite_cases, shape_cases.shape_cases, shape_cases.window_cases, quantise_cases.quantise_cases, quantise_cases.bitcast_cases,
    quantise_cases.scaled_product_cases, random_cases.random_cases, index_cases.index_cases, index_cases.order_cases,
)

for make in MAKERS:
    make()
composite_ops.composite_cases(case, data, rounded, Array, rng)
conv_ops.conv_cases()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<q", len(out)))
    f.write(b"".join(out))
print(len(out), "cases")

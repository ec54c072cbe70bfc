"""Writes the cases of test_insn: one record for each instruction, element type, layout and size.

usage: make_insn_tables.py OUT. Records are little-endian; test_insn.c says how they are read."""
import struct
import sys

from insn_compute_cases import *
from insn_move_cases import *
from insn_table import out

for make in (binary_cases, unary_cases, mask_cases, remainder_cases, convert_cases, reduce_cases, spread_cases, matmul_cases, memory_cases, move_cases, read_cases, overlap_cases, sort_cases, quantized_cases, block_cases, accumulator_cases, scaled_move_cases):
    make()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<q", len(out)))
    f.write(b"".join(out))
print(len(out), "cases")

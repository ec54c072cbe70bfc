"""Inputs and reference of the embedding: y = 8 table[tokens] + places; a product by 8 is exact."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case, bf16_from_f32, f32_from_bf16  # noqa: E402

case = Case(seed=8)
b, t, v, d = (case[n] for n in "BTVD")
table, places = bf16_from_f32(case.normal(v, d)), bf16_from_f32(case.normal(t, d))
tokens = case.rng.integers(0, v, (b, t)).astype(np.int32)
wide = lambda p: f32_from_bf16(p).astype(np.float64)  # noqa: E731
case.save(table=table, places=places, tokens=tokens, y=8 * wide(table)[tokens] + wide(places))

"""Inputs and reference of the 16 largest of each row: halves of whole numbers, so that many are equal; the lower place is first where they are."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from case_data import Case  # noqa: E402

case = Case(seed=14)
s = np.rint(case.normal(case["R"], case["N"]) * 20).astype(np.float32) / 2
places = np.argsort(-s, axis=1, kind="stable")[:, :16].astype(np.int32)
case.save(s=s, values=np.take_along_axis(s, places, 1), places=places)

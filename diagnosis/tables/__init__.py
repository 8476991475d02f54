"""What the tables of codes say: Xid, SXid, DCGM, CUDA and NVML, each code with its meaning, its action and its source.

The tables lie in `rules/tables/` as CSV; a sentence in them stands in English and Chinese. `actions.csv` says, for each word
with which a vendor names an action, what it means and the harshest of our actions that it allows.
"""

from diagnosis.tables.codes import HARSHNESS, KINDS, UNSTATED, Code, StatedAction, TableError, Words
from diagnosis.tables.loader import Tables, load_tables
from diagnosis.tables.nvlink import Bits, NvlinkCode, NvlinkReading, family_of, read_registers

__all__ = [
    "HARSHNESS",
    "KINDS",
    "UNSTATED",
    "Bits",
    "Code",
    "NvlinkCode",
    "NvlinkReading",
    "StatedAction",
    "TableError",
    "Tables",
    "Words",
    "family_of",
    "load_tables",
    "read_registers",
]

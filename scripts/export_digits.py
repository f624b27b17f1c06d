"""Exports the UCI 8 x 8 digits, as scikit-learn ships them, to data/digits/digits.bin.

One record an image: 64 bytes of pixels, row by row, each from 0 to 16, then one byte with the digit.

    pip install scikit-learn==1.9.1
    python scripts/export_digits.py            writes the file
    python scripts/export_digits.py --check    compares it with what would be written
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

FILE = Path(__file__).resolve().parent.parent / "data" / "digits" / "digits.bin"


def records() -> bytes:
    digits = load_digits()
    table = np.column_stack([digits.data, digits.target])
    if table.shape != (1797, 65) or table.min() < 0 or table[:, :64].max() > 16 or table[:, 64].max() > 9:
        sys.exit(f"export_digits.py: not the digits expected: shape {table.shape}")
    if not np.array_equal(table, table.round()):
        sys.exit("export_digits.py: the pixels are not whole numbers")
    return table.astype(np.uint8).tobytes()


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        if FILE.read_bytes() != records():
            sys.exit(f"export_digits.py: {FILE.name} is not what this script writes")
        print(f"{FILE.name} is what this script writes")
    elif not sys.argv[1:]:
        FILE.write_bytes(records())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

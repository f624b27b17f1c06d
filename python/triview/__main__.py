"""``python -m triview`` is the command ``triview``."""

import sys

from triview._command import main

sys.exit(main())

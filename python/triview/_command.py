"""The command ``triview``: the same program as the binary, out of the compiled module."""

import signal
import sys

from triview import _core


def main() -> int:
    """Answer the command line and return the status to exit with."""
    # Python's own handler would only be run once the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.main(["triview", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

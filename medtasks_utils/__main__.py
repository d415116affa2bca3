"""``python -m medtasks_utils``: the console script where it is not on the path."""

import sys

from medtasks_utils.cli import main

if __name__ == "__main__":
    sys.exit(main())

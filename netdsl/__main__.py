"""``python -m netdsl``."""

import sys

from netdsl.cli import main

sys.exit(main())

"""`python -m node NAME ...`: one store as a process."""

import sys

from node.process import main

sys.exit(main())

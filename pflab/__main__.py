"""`python -m pflab ...`: the command line."""

from pflab.cli import main

main()

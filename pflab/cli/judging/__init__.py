"""The parts of the analytics that several verbs of the command line use."""

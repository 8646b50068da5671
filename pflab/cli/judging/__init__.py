"""What the command line needs of the analytics in more than one verb."""

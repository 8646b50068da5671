"""The benchmarks: `python -m bench` runs them. Nothing imports this package."""

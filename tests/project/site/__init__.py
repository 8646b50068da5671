"""Tests of the documentation site: it is built, its reference is complete, and its tutorials show what happens."""

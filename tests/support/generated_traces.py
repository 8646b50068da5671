"""Traces made by the generator: one clean, one with planted faults."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from analytics.generate import Shape, generate

SHAPES = {"clean": Shape(9, 3), "faulty": Shape(10, 4, 3)}


def write_generated(spark: SparkSession, place: Path) -> None:
    for name, shape in SHAPES.items():
        generate(spark, shape, place / name)

"""Errors of the analytics; each text is one line that says what is wrong and what to do."""


class AnalyticsError(Exception):
    """The check cannot run."""


class PackageMissing(AnalyticsError):
    """A package that judging needs is not installed. extra: the one that brings it."""

    def __init__(self, package: str) -> None:
        super().__init__(f"{package} is not installed")
        self.extra = "spark" if package in {"pyspark", "pandas", "grpc"} else "analytics"


class JavaMissing(AnalyticsError):
    """Spark needs Java, and there is no Java that it can use."""


class TablesDamaged(AnalyticsError):
    """The tables of earlier checks cannot be used."""


class PartDamaged(AnalyticsError):
    """A Parquet file of a table cannot be read. file: its path. why: what is wrong with it."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{file}: {why}")
        self.file, self.why = file, why


class UnknownCheck(AnalyticsError):
    """A word is not the name of a check."""


class NoTraces(AnalyticsError):
    """The given folders contain no segment."""

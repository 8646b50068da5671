"""Errors of the analytics; each text is one line that says what is wrong and what to do."""


class AnalyticsError(Exception):
    """Nothing can be judged as things stand."""


class JavaMissing(AnalyticsError):
    """Spark runs on Java, and there is none that it can use."""


class NoTraces(AnalyticsError):
    """There is no segment where traces were looked for."""

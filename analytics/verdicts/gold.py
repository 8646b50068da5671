"""The tables of a check together."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from analytics.evidence.organization import Organization
from analytics.ingest.silver import Silver


@dataclass(frozen=True, slots=True)
class Gold:
    """All tables of a check: gold (verdicts, mismatches, losses) and the tables that they are computed from.

    differences: see `analytics.verdicts.findings.differences`.
    """

    bronze: DataFrame
    events: Silver
    org: Organization
    histories: DataFrame
    objects: DataFrame
    folders: DataFrame
    mails: DataFrame
    mail_folders: DataFrame
    mismatches: DataFrame
    losses: DataFrame
    verdicts: DataFrame
    rules: DataFrame
    differences: DataFrame

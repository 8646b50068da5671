"""The events of a run: definitions, lab time, the recorder, segment files and their reader.

Imported by: everything; imports nothing of pflab.
Public: `events` (definitions), `labtime`, `recorder`, `segments`, `open_segment`, `reading`, `trace_version`, `backfill_lives`,
`errors`, `temporary_folder`.
"""

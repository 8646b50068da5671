"""Words and values that all of `pflab` shares: types of mail, sets of numbers, verdicts, event handlers, and events in words.

Imported by: all of `pflab`.
Public: `verdict`, `event_words`, `event_handlers`, `mail_types`, `number_sets`.
"""

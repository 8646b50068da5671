"""The changes of a store over HTTP: their table, their arguments in JSON, and their routes."""

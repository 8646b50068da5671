"""The guided lessons of `pflab demo`: the list of them, and how the terminal plays one lesson in a live lab.

Imported by: `pflab.cli.verbs.demo`.
Public: `lessons.course_lines`, `play.run_demo`.
"""

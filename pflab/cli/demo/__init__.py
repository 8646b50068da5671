"""The guided lessons of `pflab demo`: the course, and how the terminal plays one lesson in a live lab.

Imported by: `pflab.cli.verbs.demo`.
Public: `lessons.lessons_of_pflab`, `lessons.course_lines`, `play.run_demo`.
"""

"""Lessons: the course, and the labs in which the HTTP server of a lab plays lessons.

A lesson never touches the lab of the user. Each lesson that is played has its own lab (`classroom.Classroom`), in the same
process, which is served below /lessons/{id}/.

Imported by: `pflab.cli`.
Public: `course.lessons_of_pflab`, `course.own_lessons`, `course.lesson_numbered`, `course.minutes_of`, `classroom.Classroom`,
`routes.extension_of`.
"""

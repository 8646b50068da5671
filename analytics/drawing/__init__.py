"""Pictures of a run as SVG text: the organization, the mails over time, and space-time diagrams. Plain values in, SVG out.

Nothing here knows Spark or the page around a picture, so a console can draw the same pictures. A page that shows them includes
`pictures.css`, which has the colours for light and dark.

Imported by: `analytics.report`.
Public: `lab_time`, `mail_types`, `organization_map`, `spacetime`, `svg`, `timeline`.
"""

"""Builds the lab that runs in a browser tab: a folder of static files, which works below any path of any web server.

    python -m docs.lab_site FOLDER          (or: make site)

The folder gets the page, the files of `console/`, the example topologies, and Python (Pyodide) with all modules that a lab can
import, compiled. The same sources give the same bytes, so `content.json` has a version that changes only with the content.

Public: `site.build`. Imported by: nobody. It needs node and npm's package `pyodide`, and with an empty `build/` pip's index.
"""

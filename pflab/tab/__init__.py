"""A lab in a browser tab: a simulated lab, its lessons and its HTTP API, in Python compiled to WebAssembly (Pyodide).

Nothing here opens a socket: the page sends its requests to `tab.Tab.answer`, in place of a server.

Public: `tab` (class `Tab`); `browser` has the functions that JavaScript calls.

Imported by: nobody; the worker of the page begins with `browser`. Never imports: a driver, the command line.
"""

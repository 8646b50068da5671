"""The lab in a browser tab outside of a browser: in Pyodide, in Node.js."""

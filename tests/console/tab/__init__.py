"""The lab in a browser tab, in Chromium and in Firefox."""

"""The mail of labs: SMTP between their servers, foreign mail servers, and the smart host."""

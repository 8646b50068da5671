"""pflab: a lab of public folder stores that replicate by mail. The only name that outsiders import."""

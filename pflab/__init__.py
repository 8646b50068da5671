"""pflab: a lab of public folder stores that replicate by mail. Other programs import only this package."""

"""Other programs that replicate posts or send mail, under the same load as pflab."""

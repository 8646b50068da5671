"""How the analytics and the console do with many events."""

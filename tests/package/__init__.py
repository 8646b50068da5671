"""The package as others get it: built, installed into new environments, and used there. See `make test-package`."""

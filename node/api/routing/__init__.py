"""HTTP requests as calls of functions: the routes, the reading of their parameters, and the OpenAPI document."""

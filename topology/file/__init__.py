"""Read the YAML text of a topology, and return a validated `Topology`. Also: the JSON Schema of the file.

Imported by: topology/__init__.py alone; users call `topology.load_topology`.
Public: `load`, `schema`, `yaml_source`.
"""

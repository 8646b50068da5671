"""From a topology's YAML text to a validated `Topology`, and the JSON Schema of the file.

Imported by: topology/__init__.py alone; users call `topology.load_topology`.
Public: `load`, `schema`, `yaml_source`.
"""

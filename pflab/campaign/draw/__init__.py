"""Draw the scenario of a seed: its organization, its work and its faults.

Imported by: `pflab.campaign`.
Public: `scenario.draw_scenario`, `faults.FAULT_KINDS`.
"""

"""Change numbers and the sets made of them: ranges, CNSet, IDSET, predecessor change lists.

Imported by: everything above in `node`, and `pflab`.
Public: `change_number`, `cnset`, `number_sets`, `idset`, `pcl`.
"""

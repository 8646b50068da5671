"""A class: one trainer, up to five hundred pupils, and the lesson that they see together.

The pupils follow the trainer's step, vote on its questions, and may take the lab of the moment as their own. Only the trainer
plays the lesson on or changes its lab.

Imported by: `pflab.cli`.
Public: `room.Room`, `app.app_of_class`, `access.Access`.
"""

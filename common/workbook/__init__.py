"""The workbook's command: see __main__.py for its verbs. Standard library only; matplotlib, if it is there, for plots."""

"""What stands behind the `workbook` command: the standard library only, and matplotlib where there is one."""

"""The `workbook` command. It uses the standard library and the packages that pyproject.toml lists."""

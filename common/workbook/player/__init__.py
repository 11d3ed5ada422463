"""The page of ./workbook play, which replays a run of kernels."""

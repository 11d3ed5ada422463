"""What a browser shows of the workbook: the course as pages, and the student's work beside them."""

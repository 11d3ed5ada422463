"""Reports: tables, plots and pages made from measurements."""

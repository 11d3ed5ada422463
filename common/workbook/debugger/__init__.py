"""What `./workbook debug` gives to gdb: cuda.py runs in gdb, and start.py starts a step's program for it."""

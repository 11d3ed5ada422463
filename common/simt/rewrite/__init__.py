"""Turns CUDA C++ into C++ that any compiler reads. Started by rewrite.py, which any Python from 3.9 on runs as it is.

It starts for every .cu file at every save, so it imports little.
"""

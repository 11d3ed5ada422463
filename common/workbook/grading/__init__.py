"""Grades of a class: how they come about, and what is made from them."""

"""`check`: tests steps on each build, and reaches one verdict per step (verdict.py).

checking.py decides what is tested, in which order, and which failing case is shown. programs.py runs cases.
explaining.py finds the smallest case that fails in the same way (shrinking.py), looks at it on the check build, and
asks diagnose/ for the reason. words.py makes the lines. narrowing.py and suspects.py look in the source for faults
that the cases may not show.
"""

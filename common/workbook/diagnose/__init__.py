"""Why a step fails: from its source, a case that fails, and what the check build saw of it, to one diagnosis.

In the order in which they are trusted: a small change with which the step passes (search.py); who wrote what is wrong
(writers.py), from the trace of the case; the first launch that departs from what the lab expects (expectations.py); and
the syntax tree, which words and narrows, and decides nothing alone. No code here knows a variable of the course, the
number of a step, or a certain mistake.

The search is mutation-based fault localization: Papadakis and Le Traon, "Metallaxis-FL: mutation-based fault
localization", Software Testing, Verification and Reliability 25 (2015). All changes are compiled into one program, of
which a run chooses one: Untch, Offutt and Harrold, "Mutation analysis using mutant schemata", ISSTA 1993.
"""

"""Where a step goes wrong: small changes of its file are tried, and those that make its failing cases pass are named.

The idea is that of mutation-based fault localization: Papadakis and Le Traon, "Metallaxis-FL: mutation-based fault
localization", Software Testing, Verification and Reliability 25 (2015). All changes are compiled into one program, of
which a run chooses one: Untch, Offutt and Harrold, "Mutation analysis using mutant schemata", ISSTA 1993.
"""

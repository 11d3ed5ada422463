"""Why a wrong result is wrong: the first launch, or the first stage of a block, that departs from the network."""

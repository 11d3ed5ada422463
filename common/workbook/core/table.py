"""The old name of console, for code that has not moved yet."""

from .console import *

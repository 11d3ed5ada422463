"""Completion of the command line in bash and zsh."""

import argparse
from collections.abc import Sequence

from .. import cli
from ..core.course import find_lab, labs, parts, steps

SCRIPT = """\
# Completion for ./workbook. In bash, and in zsh after `autoload -U bashcompinit && bashcompinit`:
#   source <(./workbook completion)
_workbook() {
  local words
  words=$("${COMP_WORDS[0]}" completion "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _workbook ./workbook workbook
"""


def candidates(words: Sequence[str]) -> list[str]:
    """What may take the place of the last word, which may be incomplete or empty."""
    if len(words) <= 1:
        return list(cli.VERBS)
    verb, *before, last = words
    if verb not in cli.VERBS:
        return []
    parser = cli.Parser()
    cli.module_of(verb).add_arguments(parser)
    if last.startswith("-"):
        return parser.options()
    wanted = [action.dest for action in parser._actions if not action.option_strings]
    plain = [word for word in before if not word.startswith("-")]
    if wanted[:1] == ["lab"] and not plain:
        return labs()
    if wanted[:2] == ["lab", "step"] and len(plain) == 1:
        lab = find_lab(plain[0])
        return [*(step.name for step in steps(lab)), *parts(lab)]
    return []


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments: the words to complete, which the script passes on."""
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def main(arguments: argparse.Namespace) -> int:
    """The script for the shell, or the candidates for the last of the words."""
    print("\n".join(candidates(arguments.words)) if arguments.words else SCRIPT, end="")
    return 0

"""The files that ./workbook editor writes, and whether they understand what the command prints."""

from __future__ import annotations

import json
import os
import re
import unittest
from typing import Any
from unittest import mock

from in_folder import InFolder, run_cli

from workbook import cli
from workbook.core.course import ROOT
from workbook.verbs import editor

VARIABLE = re.compile(r"\$\{(\w+)\}")


def parsed(name: str) -> Any:
    """A file that the command writes."""
    return json.loads((editor.SOURCES / name).read_text(encoding="utf-8"))


class Written(InFolder):
    """What is written, and where."""

    def setUp(self) -> None:
        super().setUp()
        self.replace(editor, "ROOT", self.folder)

    def contents(self) -> dict[str, str]:
        return {str(p.relative_to(self.folder)): p.read_text() for p in self.folder.rglob("*") if p.is_file()}

    def test_all_files_are_written_once(self) -> None:
        status, printed = run_cli("editor")
        self.assertEqual((status, printed.count("written  ")), (0, len(editor.PLACES)))
        before = self.contents()
        self.assertEqual(set(before), {f"{folder}/{name}" for name, folder in editor.PLACES.items()})
        self.assertEqual(set(editor.PLACES), {path.name for path in editor.SOURCES.iterdir()})
        status, printed = run_cli("editor")
        self.assertEqual((status, printed.count("left as it is  ")), (0, len(editor.PLACES)))
        self.assertEqual(self.contents(), before)

    def test_nothing_is_overwritten(self) -> None:
        (self.folder / ".vscode").mkdir()
        (self.folder / ".vscode/tasks.json").write_text("mine")
        (self.folder / ".vscode/launch.json").symlink_to("nowhere")
        status, printed = run_cli("editor")
        self.assertEqual(status, 0)
        self.assertIn("left as it is  .vscode/tasks.json\nleft as it is  .vscode/launch.json\nwritten", printed)
        self.assertEqual((self.folder / ".vscode/tasks.json").read_text(), "mine")
        self.assertFalse((self.folder / "nowhere").exists())

    def test_no_file_is_left_half_written(self) -> None:
        with mock.patch.object(os, "replace", side_effect=OSError(28, "No space left on device")):
            status, printed = run_cli("editor")
        self.assertEqual((status, self.contents()), (1, {}))
        self.assertIn("No space left on device", printed)

    def test_a_folder_that_cannot_be_made(self) -> None:
        (self.folder / ".vscode").write_text("a file")
        status, printed = run_cli("editor")
        self.assertEqual(status, 1)
        self.assertIn(".vscode", printed)
        self.assertEqual(self.contents(), {".vscode": "a file"})


class Understood(unittest.TestCase):
    """The files are what VS Code takes, and name what exists."""

    def tasks(self) -> dict[str, dict[str, Any]]:
        """The tasks, by their labels."""
        return {task["label"]: task for task in parsed("tasks.json")["tasks"]}

    def patterns(self, label: str) -> list[dict[str, Any]]:
        """Of a task's problem matchers."""
        return [matcher["pattern"] for matcher in self.tasks()[label]["problemMatcher"]]

    def matches(self, printed: str, label: str = "workbook: check this step") -> list[tuple[str, int, str, str]]:
        """File, line, severity and message of what a task underlines."""
        found = []
        for line in printed.splitlines():
            for pattern in self.patterns(label):
                if match := re.match(pattern["regexp"], line):
                    own = {name: match[pattern[name]] for name in pattern.keys() - {"regexp", "kind"}}
                    found.append((own["file"], int(own.get("line", 1)), own.get("severity", "error"), own["message"]))
        return found

    def test_tasks_are_commands(self) -> None:
        for label, task in self.tasks().items():
            verb, *words = task["args"]
            self.assertIn(verb, cli.VERBS)
            command = cli.Parser()
            cli.module_of(verb).add_arguments(command)
            order = getattr(cli.module_of(verb), "order_words", list)
            self.assertEqual(command.parse_known_args(order(words))[1], [], label)

    def test_what_launches_depends_on_exists(self) -> None:
        for configuration in parsed("launch.json")["configurations"]:
            task = self.tasks()[configuration["preLaunchTask"]]
            script = configuration["setupCommands"][0]["text"].removeprefix("source ")
            self.assertEqual(task["args"][-2:], ["--script", script])
        for name in editor.PLACES:
            used = set(VARIABLE.findall((editor.SOURCES / name).read_text(encoding="utf-8")))
            known = {"workspaceFolder", "file", "fileDirname", "fileDirnameBasename", "fileBasenameNoExtension"}
            self.assertLessEqual(used, known)
        (settings,) = parsed("c_cpp_properties.json")["configurations"]
        for path in (*settings["includePath"], *settings["forcedInclude"]):
            self.assertTrue(list(ROOT.glob(path.removeprefix("${workspaceFolder}/"))), path)

    def test_both_matchers_are_the_same(self) -> None:
        self.assertEqual(self.patterns("workbook: check this step"), self.patterns("workbook: watch this lab"))

    def test_compilers_findings_and_notes_are_underlined(self) -> None:
        printed = (
            "labs/03-bitonic/02_shared.cu:60:15: error: expected ';' before '}' token\n"
            "  labs/03-bitonic/02_shared.cu:61: error: race: kernel k, block (0,0,0), thread (1,0,0): reads\n"
            "      written by thread (0,0,0) at labs/03-bitonic/02_shared.cu:58\n"
            "labs/03-bitonic/02_shared.cu:9: note: bank-conflict: ideal 1,760\n"
            "labs/03-bitonic/02_shared.cu:3:10: fatal error: no_such.h: No such file or directory\n"
            "error: labs/03-bitonic/02_shared.cu is missing: ./workbook starters writes it again\n"
            "labs/03-bitonic/02_shared.cu: wrong key at index 3\n"
        )
        self.assertEqual(
            [(line, severity) for _, line, severity, _ in self.matches(printed)],
            [(60, "error"), (61, "error"), (9, "note"), (3, "error"), (1, "error")],
        )
        self.assertEqual({file for file, *_ in self.matches(printed)}, {"labs/03-bitonic/02_shared.cu"})


if __name__ == "__main__":
    unittest.main()

"""The scripts that other systems run: the autograder's on Gradescope, and the job array of Slurm.

What they start is replaced here. tests/workbook/whole_course.py runs the real ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

from in_folder import InFolder, needs_git, run_cli

from workbook.core.console import Problem
from workbook.core.course import ROOT, labs, steps
from workbook.grading import class_run, handed_in, roster, submissions
from workbook.grading.grades import read_run
from workbook.release import contents
from workbook.verbs import release

LABS = ["01-odd-even", "03-bitonic"]
FAKE_WORKBOOK = """#!/bin/sh
# Writes what it was asked for, and results as if it had graded.
echo "$@" >>"$CALLS"
stat -c '%A %n' solutions tests build >>"$CALLS.modes" 2>/dev/null
[ -z "${DIES-}" ] || exit 1
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=$2 ;;
    --seeds-of) cp "$2/run.json" "$CALLS.seeds" && stat -c '%A %n' "$2" >>"$CALLS.modes" ;;
  esac
  shift
done
mkdir -p "$out/students/submission"
[ -e "$out/run.json" ] || echo '{}' >"$out/run.json"
[ -n "${NOTHING-}" ] || echo '{"tests": []}' >"$out/students/submission/results.json"
exit "${STATUS:-0}"
"""
# Runs the tasks of an array one after another, and what depends on them at once.
FAKE_SBATCH = """#!/bin/sh
tasks=none
while :; do
  case $1 in
    --array=1-*) tasks=${1#--array=1-} ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
if [ "$tasks" = none ]; then exec "$@"; fi
task=1
while [ $task -le "$tasks" ]; do
  SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=3 "$@" >&2
  task=$((task + 1))
done
echo 17
"""


def setUpModule() -> None:
    """A release is made of the files that git tracks."""
    try:
        contents.tracked()
    except Problem as problem:
        raise unittest.SkipTest(str(problem)) from problem


class Temporary(InFolder):
    """A test with a folder of its own, whose name has a space."""

    def setUp(self) -> None:
        super().setUp()
        self.folder /= "hand out"
        self.folder.mkdir()
        self.calls = self.folder / "calls"

    def program(self, path: Path, text: str) -> None:
        """Writes a program."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a script with the programs above."""
        environment = {**os.environ, "CALLS": str(self.calls), **variables}
        return subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=False)

    def called(self) -> list[str]:
        """What the workbook was asked for."""
        return self.calls.read_text().splitlines() if self.calls.exists() else []


class Gradescope(Temporary):
    """The archive, and its scripts in a folder that stands for /autograder."""

    def unpacked(self) -> Path:
        """The archive's files where Gradescope puts them."""
        archive = self.folder / "autograder.zip"
        status, printed = run_cli("gradescope", "--labs", "3", "odd-even", "--out", str(archive))
        self.assertEqual(status, 0, printed)
        root = self.folder / "autograder"
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(root / "source")
            self.modes = {item.filename: item.external_attr >> 16 & 0o777 for item in packed.infolist()}
        (root / "submission").mkdir()
        (root / "submission/02_shared.cu").write_text("// mine\n")
        return root

    def test_archive(self) -> None:
        source = self.unpacked() / "source"
        self.assertEqual(
            sorted(path.name for path in source.iterdir()), ["course", "run_autograder", "seeds", "setup.sh"]
        )
        self.assertEqual((self.folder / "autograder.zip").stat().st_mode & 0o077, 0)
        for script in ("run_autograder", "setup.sh", "course/workbook"):
            self.assertEqual(self.modes[script] & 0o111, 0o111, script)
        run = read_run(source / "seeds")
        assert run
        self.assertEqual((set(run.seeds), run.labs), (set(class_run.SEEDS), tuple(LABS)))
        self.assertEqual(run.rubric, class_run.RUBRIC.read_text(encoding="utf-8"))
        self.assertTrue((source / "course/solutions/03-bitonic/02_shared.cu").is_file())
        self.assertFalse((source / "course/.git").exists())
        for script in ("run_autograder", "setup.sh"):
            text = (source / script).read_text()
            self.assertIn("--labs 01-odd-even 03-bitonic ", text)
            self.assertIn("${WORKBOOK_AUTOGRADER:-/autograder}", text)

    def test_other_seeds_in_each_archive(self) -> None:
        first, second = self.folder / "1.zip", self.folder / "2.zip"
        for archive in (first, second):
            run_cli("gradescope", "--labs", "1", "--out", str(archive))
        seeds = [json.loads(zipfile.ZipFile(archive).read("seeds/run.json"))["seeds"] for archive in (first, second)]
        self.assertNotEqual(seeds[0], seeds[1])
        status, printed = run_cli("gradescope", "--labs", "1", "--out", str(first))
        self.assertEqual(status, 1)
        self.assertIn("Name another file", printed)
        self.assertEqual(run_cli("gradescope", "--labs", "9", "--out", str(self.folder / "3.zip"))[0], 2)
        self.assertEqual(run_cli("gradescope", "--labs", "1", "--out", str(self.folder / "no/3.zip"))[0], 1)
        if (ROOT / ".git").exists() and shutil.which("git"):  # it must not be added to the history by accident
            status, printed = run_cli("gradescope", "--labs", "1", "--out", str(ROOT / "labs/autograder"))
            self.assertEqual(status, 1)
            self.assertIn("git would not ignore it", printed)
            self.assertFalse((ROOT / "labs/autograder").exists())
            ignored = ["git", "-C", str(ROOT), "check-ignore", "--quiet", "autograder.zip"]
            self.assertEqual(0, subprocess.run(ignored, check=False).returncode)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["1.zip", "2.zip"])

    def test_scripts(self) -> None:
        """The submission is graded with the archive's seeds, and the results are where Gradescope looks for them."""
        root = self.unpacked()
        self.program(root / "source/course/workbook", FAKE_WORKBOOK)
        for folder in ("", "source", "source/course"):
            (root / folder).chmod(0o755)
        done = self.run_script("bash", root / "source/setup.sh", WORKBOOK_AUTOGRADER=str(root))
        self.assertEqual(done.returncode, 0, done.stderr)
        # Another user can read nothing of these when the first submission is graded.
        modes = Path(f"{self.calls}.modes").read_text().splitlines()
        self.assertEqual(
            [Path(line.partition(" ")[2]).name for line in modes], ["solutions", "tests", "build", "seeds"]
        )
        self.assertEqual([line for line in modes if line.split()[0][-3:] != "---"], [])
        for secret in ("seeds/run.json", "seeds", "course/solutions", "course/tests/rubric.toml", "course/build"):
            self.assertEqual((root / "source" / secret).stat().st_mode & 0o007, 0, secret)
        for status in ("0", "2"):
            done = self.run_script("bash", root / "source/run_autograder", WORKBOOK_AUTOGRADER=str(root), STATUS=status)
            self.assertEqual(str(done.returncode), status, done.stderr)
            self.assertEqual(json.loads((root / "results/results.json").read_text()), {"tests": []})
            (root / "results/results.json").unlink()
        self.assertEqual(Path(f"{self.calls}.seeds").read_bytes(), (root / "source/seeds/run.json").read_bytes())
        self.assertEqual(len(self.called()), 3)
        for call in self.called():
            self.assertRegex(call, r"^grade \S+/class --labs 01-odd-even 03-bitonic --seeds-of .*/seeds --out ")

    def test_the_same_seeds(self) -> None:
        """A rubric that was corrected during an assignment: the cases stay."""
        marks = self.folder / "marks.toml"
        marks.write_text("[step]\ncorrect = 1\n")
        first, second = self.folder / "1.zip", self.folder / "2.zip"
        run_cli("gradescope", "--labs", "1", "--out", str(first))
        words = ("gradescope", "--labs", "1", "--rubric", str(marks), "--seeds-of")
        self.assertEqual(run_cli(*words, str(first), "--out", str(second))[0], 0)
        runs = [json.loads(zipfile.ZipFile(archive).read("seeds/run.json")) for archive in (first, second)]
        self.assertEqual(runs[0]["seeds"], runs[1]["seeds"])
        self.assertEqual(runs[1]["rubric"], marks.read_text())
        with zipfile.ZipFile(self.folder / "empty.zip", "w"):
            pass
        for other in (marks, self.folder / "empty.zip", self.folder / "none.zip"):
            status, printed = run_cli(*words, str(other), "--out", str(self.folder / "3.zip"))
            self.assertEqual(status, 2)
            self.assertIn("is not an archive with seeds", printed)
        self.assertFalse((self.folder / "3.zip").exists())

    def test_nothing_graded(self) -> None:
        root = self.unpacked()
        self.program(root / "source/course/workbook", FAKE_WORKBOOK)
        done = self.run_script(
            "bash", root / "source/run_autograder", WORKBOOK_AUTOGRADER=str(root), STATUS="1", NOTHING="yes"
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was graded", done.stderr)
        self.assertFalse((root / "results").exists())


class Slurm(Temporary):
    """The job array."""

    def grade_class(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the script for three tasks."""
        script = self.folder / "workbook/solutions/grade-class.sh"
        self.program(script, (ROOT / "solutions/grade-class.sh").read_text())
        self.program(self.folder / "workbook/workbook", FAKE_WORKBOOK)
        self.program(self.folder / "bin/sbatch", FAKE_SBATCH)
        self.program(self.folder / "bin/sleep", "#!/bin/sh\n")
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return self.run_script(
            script, "my class", self.folder / "grades", "3", "--labs", LABS[0], PATH=path, **variables
        )

    def test_tasks_and_merge(self) -> None:
        """The first task draws the seeds, the others use them; the last job joins all."""
        done = self.grade_class()
        self.assertEqual(done.returncode, 0, done.stderr)
        options = f"--jobs 3 --labs {LABS[0]}"
        grades = self.folder / "grades"
        shards = grades / "shards"
        self.assertEqual(
            self.called(),
            [
                f"grade my class --shard 1/3 --out {shards}/1 {options}",
                f"grade my class --shard 2/3 --out {shards}/2 {options} --seeds-of {shards}/1",
                f"grade my class --shard 3/3 --out {shards}/3 {options} --seeds-of {shards}/1",
                f"grade --merge {shards}/1/ {shards}/2/ {shards}/3/ --out {grades}/all",
            ],
        )
        self.assertEqual(grades.stat().st_mode & 0o077, 0)
        again = self.grade_class()
        self.assertEqual((again.returncode, len(self.called())), (1, 4))
        self.assertIn("grades/all exists: remove it", again.stderr)

    def test_the_first_task_fails(self) -> None:
        """The others do not wait for its seeds forever."""
        done = self.grade_class(DIES="yes")
        self.assertEqual(done.stderr.count("task 1 has not drawn the seeds"), 2)
        self.assertEqual(len([call for call in self.called() if "--merge" not in call]), 1)


class Merge(Temporary):
    """The option of ./workbook grade."""

    def test_arguments(self) -> None:
        for words in (("--merge", "a"), ("class", "--merge", "a", "--out", "b"), ()):
            self.assertEqual(run_cli("grade", *words)[0], 2, words)
        self.assertIn("grade FOLDER --labs LAB", run_cli("grade", "--labs", "3", str(self.folder))[1])
        status, printed = run_cli("grade", "--merge", str(self.folder), "--out", str(self.folder / "all"))
        self.assertEqual(status, 1)
        self.assertIn("holds no grades", printed)


class Workflow(unittest.TestCase):
    """What a free runner does with a release."""

    def test_it_checks_every_lab(self) -> None:
        text = (ROOT / "solutions/release/public-tests.yml").read_text(encoding="utf-8")
        self.assertIn(f"lab: [{', '.join(labs())}]", text)
        self.assertIn("run: ./workbook check ${{ matrix.lab }}", text)
        self.assertNotIn("autograde.yaml", [Path(name).name for name in contents.OWN.values()])  # Classroom 50's own


@needs_git
class TemplateRepository(Temporary):
    """A release in a repository, the students' repositories that are made from it, and what is graded of those."""

    def git(self, *words: str | Path) -> None:
        """Runs git without anybody's settings."""
        names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **names}
        subprocess.run(["git", *map(str, words)], env=environment, check=True, capture_output=True)

    def commit(self, folder: Path) -> None:
        """Commits everything in a folder."""
        self.git("-C", folder, "add", "-A")
        self.git("-C", folder, "commit", "-q", "-m", "work")

    def test_from_the_release_to_the_grades(self) -> None:
        template, class_ = self.folder / "template", self.folder / "class"
        release.write(template)
        self.assertTrue((template / ".github/workflows/public-tests.yml").is_file())
        self.git("-C", template, "init", "-q")
        self.commit(template)
        for login in ("ana-x", "ben"):
            clone = class_ / f"cuda-lab03-{login}"  # as Classroom 50 names them
            self.git("clone", "-q", template, clone)
            with open(clone / "labs/03-bitonic/02_shared.cu", "a") as file:
                file.write(f"// {login}\n")
            self.commit(clone)
        (class_ / "scores.csv").write_text("")
        people = self.folder / "roster.csv"
        people.write_text("username,first_name,last_name,email,section,github_id\nana-x,,,,,\nben,,,,,\neve,,,,,\n")
        handed, remarks = handed_in.find(class_, roster.read(people))
        self.assertEqual([one.student for one in handed], ["ana-x", "ben"])
        self.assertEqual(remarks, ["ignored: scores.csv is not a folder or an archive"])
        self.assertTrue(all(one.at for one in handed))
        for one in handed:
            taken = submissions.read(one, ["03-bitonic"], lambda path, suffixes: ())
            self.assertIn(f"// {one.student}\n", taken.files["03-bitonic/02_shared.cu"])
            self.assertEqual(len(taken.files), len(steps("03-bitonic")))

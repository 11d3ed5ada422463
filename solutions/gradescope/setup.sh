#!/usr/bin/env bash
# Runs once, as root, when Gradescope builds the image: installs what is needed, and compiles what all submissions share.
# An error here is shown to the instructor, before any student hands in anything.
set -eu
root=${WORKBOOK_AUTOGRADER:-/autograder} # another folder for a trial elsewhere, where nothing is installed
cd "$root/source/course"

if [ "$root" = /autograder ]; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++ python3 python3-venv bubblewrap util-linux
  # Before 3.11, Python cannot read the rubric by itself.
  python3 -c 'import tomllib' 2>/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3-tomli
fi

# Where only another user separates submissions from us, they can read whatever everybody may. The command refuses to
# grade if that includes one of these folders, so it comes before the first grading, which fills the last of them.
mkdir -p build
chmod -R o-rwx solutions tests build "$root/source/seeds"

# The starters are the first submission. They show that a sandbox works here, and get no points.
first=$(mktemp -d)
trap 'rm -rf "$first"' EXIT
mkdir "$first/class"
cp -r labs "$first/class/starters"
sh ./workbook grade "$first/class" --labs @LABS@ --seeds-of "$root/source/seeds" --out "$first/grades"

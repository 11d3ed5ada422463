#!/usr/bin/env bash
# Runs once, as root, when Gradescope builds the image: installs what is needed, and compiles what all submissions share.
# An error here is shown to the instructor, before any student hands in anything.
set -eu
root=${WORKBOOK_AUTOGRADER:-/autograder} # another folder for a trial elsewhere, where nothing is installed
cd "$root/source/course"

if [ "$root" = /autograder ]; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++ python3 python3-venv bubblewrap util-linux
fi

# The starters are the first submission. They show that a sandbox works here, and get no points.
first=$(mktemp -d)
trap 'rm -rf "$first"' EXIT
mkdir "$first/class"
cp -r labs "$first/class/starters"
sh ./workbook grade "$first/class" --labs @LABS@ --seeds-of "$root/source/seeds" --out "$first/grades"

# Where only another user separates submissions from us, they can read whatever everybody may.
chmod -R o-rwx solutions tests build "$root/source/seeds"

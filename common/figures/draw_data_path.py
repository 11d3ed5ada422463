"""The picture of common/README.md: the path of the data through the three processes."""

from __future__ import annotations

from workbook.pictures.svg import Drawing
from workbook.pictures.theme import BLUE, BLUE_FILL, INK, MUTED, ORANGE, ORANGE_FILL, RULE, TEAL, TEAL_FILL

WIDTH, LANE, BOX = 762, 86, 46  # a lane is one process; its boxes are its stages

LANES = [
    ("command", "Python", "common/workbook", BLUE, BLUE_FILL),
    ("judge", "C++", "common/judge", TEAL, TEAL_FILL),
    ("runner", "C++, one per lab", "common/runner", ORANGE, ORANGE_FILL),
]
# Name, what it does, lane, left edge, width.
STAGES = [
    ("sweep", "plans cases", 0, 168, 118),
    ("rows", "CSV, gold share", 0, 500, 118),
    ("report", "tables, plots", 0, 634, 110),
    ("inputs", "keys from a seed", 1, 168, 118),
    ("verify", "against reference", 1, 404, 124),
    ("timing", "quartiles, limits", 1, 540, 118),
    ("copy in", "host to device", 2, 168, 118),
    ("step", "labs/ or solutions/", 2, 298, 136),
    ("copy out", "device to host", 2, 446, 118),
]


def lane_y(lane: int) -> float:
    """The upper edge of a lane's boxes."""
    return 30 + lane * LANE


def across(picture: Drawing, x_from: float, x_to: float, y: float, color: str) -> None:
    """An arrow to the right."""
    picture.line(x_from, y, x_to - 6, y, color, 1.6)
    picture.polygon([(x_to, y), (x_to - 8, y - 4), (x_to - 8, y + 4)], color)


def between(picture: Drawing, x: float, lane_from: int, lane_to: int, words: str) -> None:
    """An arrow from one process to the next."""
    down = lane_to > lane_from
    start = lane_y(lane_from) + (BOX if down else 0)
    end = lane_y(lane_to) + (0 if down else BOX)
    step = 1 if down else -1
    picture.line(x, start, x, end - step * 6, INK, 1.6)
    picture.polygon([(x, end), (x - 4, end - step * 8), (x + 4, end - step * 8)], INK)
    picture.text(x + 7, (start + end) / 2 + 4, words, 11.5, MUTED, "start")


def drawing() -> Drawing:
    """The picture."""
    picture = Drawing(
        WIDTH,
        lane_y(3) - 22,
        "The path of the data from a case to a row of measurements",
        "Three processes. The command, in Python, plans a case and sends it to the judge as a line of JSON. The "
        "judge makes the keys from a seed and hands them to the runner, which copies them to the device, calls the "
        "step and copies them back. The judge verifies keys, times and findings and sends the outcome to the "
        "command, which collects rows and makes the report.",
    )
    for lane, (name, language, folder, color, fill) in enumerate(LANES):
        y = lane_y(lane)
        picture.rect(8, y - 14, WIDTH - 16, BOX + 24, "none", RULE, 6)
        picture.text(18, y + 8, name, 14, color, "start", "bold")
        picture.text(18, y + 24, language, 11, MUTED, "start")
        picture.text(18, y + 40, folder, 11, MUTED, "start")
        for stage, words, own_lane, x, width in STAGES:
            if own_lane == lane:
                picture.rect(x, y, width, BOX, fill, color, 5)
                picture.text(x + width / 2, y + 20, stage, 13.5, INK, weight="bold")
                picture.text(x + width / 2, y + 36, words, 11, MUTED)
        own = [(x, width) for _, _, own_lane, x, width in STAGES if own_lane == lane]
        for (x, width), (following, _) in zip(own, own[1:]):
            if (lane, x) not in ((0, 168), (1, 168)):
                across(picture, x + width, following, y + BOX / 2, color)
    between(picture, 204, 0, 1, "case, as a line of JSON")
    between(picture, 204, 1, 2, "keys")
    between(picture, 486, 2, 1, "keys, times, findings")
    between(picture, 570, 1, 0, "outcome, as a line of JSON")
    return picture


def figures() -> dict[str, Drawing]:
    return {"data-path.svg": drawing()}

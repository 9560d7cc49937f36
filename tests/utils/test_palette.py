"""Colours of classes can be told apart by people who see red, green or blue otherwise, or there is a second cue."""

from itertools import combinations

import numpy as np
import pytest

from medianmap.utils.palette import FILLS, OTHERS, STYLES, UNLABELLED

# How colours of linear RGB look to a dichromat: the matrices of Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# Lab distance from which patches beside each other are told apart at a glance; just visible is 2.3.
APART = 15.0
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(color, seen):
    rgb = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = TO_XYZ @ np.clip(SEEN[seen] @ linear, 0, 1) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a, b, seen):
    return float(np.linalg.norm(lab(a, seen) - lab(b, seen)))


@pytest.mark.parametrize("seen", SEEN)
def test_classes_differ_by_colour_or_by_pattern(seen):
    assert distance("#000000", "#FFFFFF", seen) == pytest.approx(100, abs=0.1)
    for (color, pattern), (other, of_other) in combinations([*STYLES, OTHERS, UNLABELLED], 2):
        assert pattern != of_other or distance(color, other, seen) >= APART, (color, other, pattern)


def test_what_needs_the_pattern_of_its_own():
    """Grey is no seventh colour: for people without green cones it is purple."""
    assert distance(OTHERS[0], "#CC79A7", "deuteranopia") < APART
    assert OTHERS[1] not in {pattern for _, pattern in STYLES}


def test_twenty_one_styles():
    assert len(FILLS) == 7
    assert len(set(STYLES)) == 21
    assert [color for color, _ in STYLES[:7]] == [color for color, _ in STYLES[7:14]] == list(FILLS)

"""The digits and their split."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.data import digits, stratified_split


def test_digits_have_the_documented_form():
    images, labels = digits()
    assert (images.dtype, images.shape) == (np.float32, (1797, 1, 8, 8))
    assert (labels.dtype, labels.shape) == (np.int32, (1797,))
    assert (images.min(), images.max()) == (0, 1)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_first_image_is_the_zero_of_the_file():
    images, labels = digits()
    assert (images[0, 0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert labels[0] == 0


def test_split_holds_out_a_fifth_of_every_digit():
    labels = digits()[1]
    train, held = stratified_split(labels)
    assert np.array_equal(np.sort(np.concatenate([train, held])), np.arange(1797))
    assert np.bincount(labels[held]).tolist() == [round(0.2 * n) for n in np.bincount(labels)]
    assert np.all(np.diff(train) > 0)
    assert np.all(np.diff(held) > 0)


def test_split_never_changes():
    assert stratified_split(digits()[1])[1][:8].tolist() == [0, 2, 9, 11, 20, 21, 38, 43]


def test_split_depends_on_the_seed():
    labels = digits()[1]
    assert not np.array_equal(stratified_split(labels)[1], stratified_split(labels, seed=1)[1])


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 2])
def test_split_refuses_an_empty_side(fraction):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        stratified_split(np.zeros(4, np.int32), fraction)

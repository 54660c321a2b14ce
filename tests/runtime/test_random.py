"""The random streams: which words, and what is made of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netdsl.runtime.random import PhiloxStream, philox_key


def stream(output: str = "y", run: int = 0, seed: int = 7) -> PhiloxStream:
    return PhiloxStream(seed, output, (run,))


def test_words_are_numpys():
    generator = np.random.Philox(key=philox_key(7, "y"), counter=[0, 0, 0, 2])
    assert stream(run=2).words(9).tolist() == [int(generator.random_raw()) for _ in range(9)]


def test_streams_differ_by_seed_output_and_run():
    words = {int(s.words(1)[0]) for s in (stream(), stream("z"), stream(run=1), stream(seed=8))}
    assert len(words) == 4
    assert stream().words(3).tolist() == stream().words(3).tolist()


def test_names_do_not_run_together():
    assert philox_key(1, "a", [("bc", 0)]).tolist() != philox_key(1, "ab", [("c", 0)]).tolist()
    assert philox_key(1, "a", [("b", 1), ("c", 0)]).tolist() != philox_key(1, "a", [("b", 0), ("c", 1)]).tolist()


def test_uniform_has_24_bits():
    values = stream().uniform((1001,))
    assert values.dtype == np.float32
    words = stream().words(501).view(np.uint32)[:1001]
    assert (values * 2.0**24 == words >> 8).all()


def test_uniform_leaves_the_end_out():
    values = stream().uniform((100_000,), 1.0, 1.0 + 2.0**-22)
    assert values.min() == 1
    assert values.max() < np.float32(1 + 2.0**-22)
    assert stream().uniform((3,), 2.0, 2.0).tolist() == [2, 2, 2]


def test_normal():
    values = stream().normal((200_001,), mean=1.0, std=2.0)
    assert values.dtype == np.float32
    assert values.shape == (200_001,)
    z = (values.astype(np.float64) - 1) / 2
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    assert abs(np.mean(np.abs(z) < 1) - math.erf(1 / math.sqrt(2))) < 0.005
    assert abs(np.corrcoef(z[0:-1:2], z[1::2])[0, 1]) < 0.01
    word = stream().words(1).view(np.uint32).tolist()
    first = math.sqrt(-2 * math.log((word[0] + 1) / 2**32)) * math.cos(2 * math.pi * word[1] / 2**32)
    assert values[0] == np.float32(1 + 2 * first)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (-3, 3), (0, 2**40), (-(2**63), 2**63 - 1), (-5, 2**62)])
def test_integers_take_the_high_word_of_a_product(low, high):
    words = [int(w) for w in stream().words(50)]
    span = high - low + 1
    expected = [low + (w * span >> 64) if span < 2**64 else (w ^ 2**63) - 2**63 - 2**63 + 2**63 for w in words]
    if span == 2**64:
        expected = [(w + low) % 2**64 for w in words]
        expected = [e - 2**64 if e >= 2**63 else e for e in expected]
    values = stream().integers((50,), low, high)
    assert values.dtype == np.int64
    assert values.tolist() == expected


def test_keep():
    mask = stream().keep((100_000,), 0.25)
    assert mask.dtype == bool
    assert abs(mask.mean() - 0.75) < 0.01
    assert stream().keep((5,), 0.0).all()
    assert not stream().keep((5,), 1.0).any()


def test_empty_and_scalar_shapes():
    assert stream().uniform((0, 3)).shape == (0, 3)
    assert stream().normal(()).shape == ()
    assert stream().integers((0,), 0, 1).shape == (0,)

"""Values of Convex: their JSON, their sizes, and the ones that cannot be kept."""

from __future__ import annotations

import json
import math
import unittest

from convex_conveyor import Int64
from convex_conveyor.values import cut, decode, encode, sendable, size_of, split


class Values(unittest.TestCase):
    def test_every_value_crosses_and_comes_back(self) -> None:
        value = {
            "null": None,
            "yes": True,
            "whole": 3,
            "half": 0.5,
            "text": "é 🙂",
            "long": Int64(2**62 + 1),
            "bytes": b"\x00\xff",
            "list": [1, [2.5], {}],
            "infinite": -math.inf,
        }
        back = decode(json.loads(json.dumps(encode(value))))
        self.assertEqual(back, value)
        self.assertIsInstance(back["long"], Int64)
        self.assertIsInstance(back["whole"], int)

    def test_the_json_is_that_of_the_official_clients(self) -> None:
        self.assertEqual(encode(Int64(5)), {"$integer": "BQAAAAAAAAA="})
        self.assertEqual(encode(b"hi"), {"$bytes": "aGk="})
        self.assertEqual(encode(math.inf), {"$float": "AAAAAAAA8H8="})
        self.assertEqual(encode(-0.0), {"$float": "AAAAAAAAAIA="})
        self.assertTrue(math.isnan(decode(encode(math.nan))))
        self.assertEqual(math.copysign(1, decode(encode(-0.0))), -1)

    def test_a_whole_number_of_the_platform_is_an_index(self) -> None:
        self.assertEqual(["a", "b"][decode(1.0)], "b")
        self.assertEqual((decode(-2.0), type(decode(-2.0))), (-2, int))
        self.assertIsInstance(decode(1e300), float)

    def test_sizes_are_the_platforms(self) -> None:
        self.assertEqual(size_of(encode({"a": None, "bc": "é", "d": [1, Int64(2), b"xyz"]})), 2 + 3 + 7 + 2 + 2 + 9 + 9 + 5)

    def test_values_that_cannot_be_kept_are_refused_with_the_rule(self) -> None:
        deep: list[object] = []
        for _ in range(15):
            deep = [deep]
        for value, why in (
            (object(), "is not a Convex value"),
            ({1: 2}, "fields are str"),
            ({"$a": 1}, "starts with \\$"),
            (2**60, "use Int64"),
            ("\ud800", "half a character"),
            (deep, "levels deep"),
            ("x" * 2**20, "bytes; at most"),
            ([0] * 9_000, "more than 8192 elements"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                sendable("The value", value)

    def test_texts_are_cut_and_split_at_characters(self) -> None:
        self.assertLessEqual(len(cut("é" * 5_000, 4_096).encode()), 4_096)
        self.assertTrue(cut("begin" + "x" * 5_000 + "end", 4_096, keep_end=True).endswith("end"))
        self.assertEqual("".join(split("🙂" * 100, 10)), "🙂" * 100)
        self.assertTrue(all(len(one.encode()) <= 10 for one in split("🙂" * 100, 10)))


if __name__ == "__main__":
    unittest.main()

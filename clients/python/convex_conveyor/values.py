"""Values of Convex as Python's, and as the JSON in which they cross.

====================  =============================  ==========================================
Convex                Python                         JSON of the format ``convex_encoded_json``
====================  =============================  ==========================================
null, boolean, string None, bool, str                the same
float64               float; int where it is whole   a number, or ``{"$float": base64}``
int64                 Int64                          ``{"$integer": base64}``
bytes                 bytes                          ``{"$bytes": base64}``
array, object         list (or tuple), dict          the same
====================  =============================  ==========================================
"""

from __future__ import annotations

import base64
import math
import struct
from typing import Any, Union

from .limits import ARRAY_MAX_ELEMENTS, OBJECT_MAX_FIELDS, PAYLOAD_MAX_BYTES, PAYLOAD_MAX_DEPTH

Value = Union[None, bool, int, float, str, bytes, list, dict]

#: Beyond it a float64 skips whole numbers.
SAFE_MAX = 2**53 - 1


class Int64(int):
    """A 64-bit integer: ``v.int64()``. A plain ``int`` is a float64, as numbers of JavaScript are."""

    def __new__(cls, value: int) -> "Int64":
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"An Int64 has 64 bits; got {value}.")
        return super().__new__(cls, value)


def encode(value: Any) -> Any:
    """The value as JSON. Raises ``TypeError`` or ``ValueError`` for one that Convex cannot store."""
    if value is None or isinstance(value, (bool, str)):
        if isinstance(value, str):
            _check_text(value)
        return value
    if isinstance(value, Int64):
        return {"$integer": _base64(struct.pack("<q", value))}
    if isinstance(value, int):
        if abs(value) > SAFE_MAX:
            raise ValueError(f"{value} does not fit into a float64; use Int64({value}).")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value) or (value == 0.0 and math.copysign(1.0, value) < 0):
            return {"$float": _base64(struct.pack("<d", value))}
        return float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$bytes": _base64(bytes(value))}
    if isinstance(value, (list, tuple)):
        return [encode(one) for one in value]
    if isinstance(value, dict):
        return {_checked_field(key): encode(one) for key, one in value.items()}
    raise TypeError(
        f"a {type(value).__name__} is not a Convex value: use dicts, lists, str, int, float, bool, Int64, bytes or None"
    )


def decode(value: Any) -> Any:
    """The value of its JSON. A whole number becomes an ``int``, so that it can be an index."""
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) <= SAFE_MAX and math.copysign(1.0, value) > 0
        return int(value) if is_whole or (value.is_integer() and -SAFE_MAX <= value < 0) else value
    if isinstance(value, list):
        return [decode(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, data),) = value.items()
        if key == "$integer":
            return Int64(struct.unpack("<q", base64.b64decode(data))[0])
        if key == "$float":
            return struct.unpack("<d", base64.b64decode(data))[0]
        if key == "$bytes":
            return base64.b64decode(data)
    return {key: decode(one) for key, one in value.items()}


def size_of(value: Any) -> int:
    """Bytes of an encoded value, as the platform counts them."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, (int, float)):
        return 9
    if isinstance(value, str):
        return 2 + len(value.encode("utf-8"))
    if isinstance(value, list):
        return 2 + sum(size_of(one) for one in value)
    if "$integer" in value or "$float" in value:
        return 9
    if "$bytes" in value:
        return 2 + len(base64.b64decode(value["$bytes"]))
    return 2 + sum(len(key) + 1 + size_of(one) for key, one in value.items())


def sendable(what: str, value: Any, max_bytes: int = PAYLOAD_MAX_BYTES) -> Any:
    """The encoded value, or a ``ValueError`` with the rule that it breaks: no call could carry it, or no row."""
    if _is_too_deep(value, PAYLOAD_MAX_DEPTH):
        raise ValueError(
            f"{what} is nested more than {PAYLOAD_MAX_DEPTH} levels deep. Make it flatter, or a string with JSON."
        )
    try:
        encoded = encode(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} is not a Convex value: {error}.") from None
    size = size_of(encoded)
    if size > max_bytes:
        raise ValueError(
            f"{what} has {size} bytes; at most {max_bytes} can be kept. "
            "Put large values into file storage, and their ids in their place."
        )
    if _is_too_wide(value):
        raise ValueError(
            f"{what} has an array of more than {ARRAY_MAX_ELEMENTS} elements or an object of more than "
            f"{OBJECT_MAX_FIELDS} fields. Make it a string with JSON."
        )
    return encoded


def cut(text: str, max_bytes: int, keep_end: bool = False) -> str:
    """The text in so many bytes at most, with a mark where it was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return data.decode("utf-8")
    mark = f" … (cut, {len(data)} bytes)"
    room = max_bytes - len(mark.encode("utf-8"))
    part = data[-room:] if keep_end else data[:room]
    kept = part.decode("utf-8", "ignore")
    return mark + kept if keep_end else kept + mark


def split(text: str, max_bytes: int) -> list[str]:
    """Pieces of at most so many bytes each, at characters' boundaries."""
    data = text.encode("utf-8")
    pieces: list[str] = []
    start = 0
    while start < len(data):
        end = min(start + max_bytes, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(data[start:end].decode("utf-8"))
        start = end
    return pieces


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a text has half a character in it (a lone surrogate)") from None


def _checked_field(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the field {key!r} of an object is a {type(key).__name__}: fields are str")
    is_good = len(key) <= 1_024 and not key.startswith("$") and all(32 <= ord(c) < 127 for c in key)
    if not is_good:
        raise ValueError(f"the field {key[:64]!r} is not ASCII, is too long, or starts with $")
    return key


def _is_too_deep(value: Any, room: int) -> bool:
    if isinstance(value, dict):
        return room == 0 or any(_is_too_deep(one, room - 1) for one in value.values())
    if isinstance(value, (list, tuple)):
        return room == 0 or any(_is_too_deep(one, room - 1) for one in value)
    return False


def _is_too_wide(value: Any) -> bool:
    if isinstance(value, dict):
        return len(value) > OBJECT_MAX_FIELDS or any(_is_too_wide(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return len(value) > ARRAY_MAX_ELEMENTS or any(_is_too_wide(one) for one in value)
    return False

"""Outcomes that are not recorded yet. None leaves before the deployment has answered for it.

A batch that is rejected is taken apart: each of its outcomes then goes alone, so that one which cannot be recorded
holds up no other. One that is rejected alone is tried again, ever more seldom, from the third time on without its
callback; one that is rejected even so is handed over, for the deployment to record it by itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Optional

from .calls import backoff
from .limits import (
    COMPLETE_MAX_BYTES,
    LEASES_MAX,
    REFUSALS_BEFORE_DEFERRING,
    REFUSALS_BEFORE_HANDING_OVER,
    REFUSED_MAX_S,
    REFUSED_MIN_S,
)

Report = dict[str, Any]


@dataclass(eq=False)
class Item:
    report: Report
    bytes: int
    due_at: float
    #: It was in a batch that was rejected.
    alone: bool = False
    #: How often it was rejected alone.
    refusals: int = 0
    handed_over: bool = False


@dataclass
class Sending:
    """The contents of one call."""

    items: list[Item]
    alone: bool = False
    defer_callbacks: bool = False
    #: To be handed over before it is sent once more.
    hand_over: bool = False

    @property
    def reports(self) -> list[Report]:
        return [item.report for item in self.items]


class Outbox:
    def __init__(self) -> None:
        self._items: list[Item] = []

    def __len__(self) -> int:
        return len(self._items)

    def put(self, report: Report, size: int) -> None:
        self._items.append(Item(report, size, self._now()))

    def next(self) -> Sending:
        """The outcomes to send now: one that must go alone, or as many as fit in a call; empty if none is due."""
        due = [item for item in self._items if item.due_at <= self._now()]
        single = next((item for item in due if item.alone), None)
        if single is not None:
            return Sending(
                [single],
                alone=True,
                defer_callbacks=single.refusals >= REFUSALS_BEFORE_DEFERRING,
                hand_over=single.refusals >= REFUSALS_BEFORE_HANDING_OVER and not single.handed_over,
            )
        batch: list[Item] = []
        size = 0
        for item in due[:LEASES_MAX]:
            # The first goes at any size, or a large result would never be sent.
            if batch and size + item.bytes > COMPLETE_MAX_BYTES:
                break
            batch.append(item)
            size += item.bytes
        return Sending(batch)

    def next_due_at(self) -> Optional[float]:
        return min((item.due_at for item in self._items), default=None)

    def settle(self, answer: dict[str, Any]) -> Optional[Report]:
        """The deployment has answered for this attempt. Returns the report, unless it was settled before."""
        for item in self._items:
            if item.report["id"] == answer["id"] and item.report["attempt"] == answer["attempt"]:
                self._items.remove(item)
                return item.report
        return None

    def reject(self, sending: Sending) -> None:
        """The deployment has refused the call that carried these."""
        for item in sending.items:
            item.alone = True
            if sending.alone:
                item.due_at = self._now() + backoff(item.refusals, REFUSED_MIN_S, REFUSED_MAX_S)
                item.refusals += 1

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

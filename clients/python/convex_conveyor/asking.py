"""When a worker with room asks for work, without a socket that says so.

It asks the cheap question first: the query `hasWork`, which writes nothing, and of which a fleet shares one cached
answer. Only a yes, or a claim that was filled, leads to a claim. Each question in vain makes the next wait longer, up
to a bound, and each wait is a random half to whole of its length: a fleet does not come at once. It knows nothing of
calls.
"""

from __future__ import annotations

import asyncio
import random
from typing import Optional

from .limits import FIRST_SPREAD_S, POLL_GROWTH


class Asking:
    def __init__(self, poll_min_s: float, poll_max_s: float) -> None:
        self._min = poll_min_s
        self._max = poll_max_s
        self._wait = poll_min_s
        #: The first claim asks nothing first: it makes the worker known, or finds that it is not welcome.
        self.is_sure = True
        self.next_at = asyncio.get_running_loop().time() + random.uniform(0, FIRST_SPREAD_S)
        #: Whether outcomes take a claim with them: the last claim got jobs, or jobs are known to wait.
        self.is_busy = False
        #: Jobs were known to wait, and the last claim got none: they may prefer another worker. Then a yes is asked again with
        #: the worker's name. A fleet shares the answer to the question without one.
        self.is_doubtful = False
        self._cursor: Optional[str] = None

    def request(self, room: int, budget: Optional[int]) -> dict[str, object]:
        return {
            "max": room,
            **({} if budget is None else {"maxCost": budget}),
            **({} if self._cursor is None else {"cursor": self._cursor}),
        }

    def knows(self, has_work: bool) -> None:
        """The question was answered."""
        self.is_sure = self.is_busy = has_work
        if has_work:
            self.next_at = self._now()
        else:
            self._postpone()

    def failed(self) -> None:
        """The question was not answered, or refused."""
        self.is_sure = False
        self._postpone()

    def claimed(self, got: int, asked: int, cursor: Optional[str]) -> None:
        """A claim was answered. One that got all that it asked for has probably left more."""
        self._cursor = cursor if cursor is not None else self._cursor
        self.is_doubtful = got == 0 and self.is_busy
        self.is_busy = got > 0
        self.is_sure = got > 0 and got >= asked
        if got == 0:
            return self._postpone()
        self._wait = self._min
        self.next_at = self._now() + (0.0 if got >= asked else self._jittered())

    def refused(self) -> None:
        """A claim was refused; its cursor may have been the cause."""
        self._cursor = None
        self.is_busy = False
        self.failed()

    def _postpone(self) -> None:
        self.next_at = self._now() + self._jittered()
        self._wait = min(self._max, self._wait * POLL_GROWTH)

    def _jittered(self) -> float:
        return self._wait * random.uniform(0.5, 1.0)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

"""The session's calls: one at a time, counted.

A call without an answer is repeated under the same number until it is answered. So no job is leased to this session
without its knowing, and no outcome is lost. A rejected call used no number up: had an earlier copy of it taken
effect after all, the next call under that number gets the reply of the copy. So a reply is applied by the ids in it.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Optional

from .errors import kind_of
from .limits import REPEAT_MAX_S, REPEAT_MIN_S

Emit = Callable[[dict[str, Any]], None]


@dataclass
class CallEnd:
    """The end of a call: ``answered``, ``rejected``, ``fatal``, ``unserved``, or ``gaveUp``: no time is left."""

    kind: str
    reply: Any = None
    error: Optional[BaseException] = None
    #: When the first copy was sent: leases in the reply cannot be older.
    sent_at: float = 0.0
    repeats: int = 0


def backoff(times: int, minimum: float, maximum: float) -> float:
    """Doubles with each time before, times a random half to whole."""
    return min(maximum, minimum * 2 ** min(times, 30)) * random.uniform(0.5, 1.0)


class Calls:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._call_seq = 0
        self._gave_up = asyncio.Event()
        #: Whether the deployment has ever answered: from then on, a missing function is a passing thing.
        self.ever_answered = False
        #: Whether a numbered call is on its way.
        self.is_calling = False

    @property
    def after(self) -> int:
        """A number after every call's, should a call that was given up still arrive."""
        return self._call_seq + 2

    def give_up(self) -> None:
        """No answer is waited for any more."""
        self._gave_up.set()

    async def run(self, name: str, send: Callable[[int], Awaitable[Any]]) -> CallEnd:
        """A numbered call. Its number is used up by an answer, and by nothing else."""
        self.is_calling = True
        try:
            call_seq = self._call_seq + 1
            end = await self.ask(name, lambda: send(call_seq))
            if end.kind == "answered":
                self._call_seq = call_seq
                self.ever_answered = True
            return end
        finally:
            self.is_calling = False

    async def ask(self, name: str, send: Callable[[], Awaitable[Any]]) -> CallEnd:
        """Repeats a call until it is answered or refused."""
        sent_at = asyncio.get_running_loop().time()
        repeats = 0
        while True:
            end = await self._once(send)
            if end.kind != "unanswered":
                end.sent_at, end.repeats = sent_at, repeats
                return end
            wait = backoff(repeats, REPEAT_MIN_S, REPEAT_MAX_S)
            self._emit({"kind": "callRepeated", "call": name, "error": str(end.error), "in_s": wait})
            try:
                await asyncio.wait_for(self._gave_up.wait(), wait)
                return CallEnd("gaveUp")
            except asyncio.TimeoutError:
                repeats += 1

    async def until_given_up(self, coroutine: Awaitable[Any]) -> "Optional[asyncio.Future[Any]]":
        """The coroutine's task at its end, or None where no answer is waited for any more."""
        call = asyncio.ensure_future(coroutine)
        over = asyncio.ensure_future(self._gave_up.wait())
        await asyncio.wait({call, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if call.done():
            return call
        call.add_done_callback(lambda call: call.cancelled() or call.exception())
        return None

    async def _once(self, send: Callable[[], Awaitable[Any]]) -> CallEnd:
        call = await self.until_given_up(send())
        if call is None:
            return CallEnd("gaveUp")
        error = call.exception()
        if error is None:
            return CallEnd("answered", reply=call.result())
        return CallEnd(kind_of(error, self.ever_answered), error=error)

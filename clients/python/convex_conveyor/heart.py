"""Heartbeats: all leases in one call, whenever the first of them has used up a third of its time.

They go in parallel to the session's other calls and carry no number, since a repeat does no harm. A claim or
completion is a beat as well, so a busy worker of short jobs sends none of its own. An idle worker beats seldom.
"""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Optional

from .attempts import Attempt, Attempts
from .deployment import Deployment
from .limits import BEATS_PER_LEASE

Answer = dict[str, Any]


class Heart:
    def __init__(
        self,
        deployment: Deployment,
        attempts: Attempts,
        presence_s: float,
        is_calling: Callable[[], bool],
        failed: Callable[[BaseException], object],
    ) -> None:
        self._deployment = deployment
        self._attempts = attempts
        self._presence_s = presence_s
        self._is_calling = is_calling
        self._failed = failed
        self._timer: Optional[asyncio.TimerHandle] = None
        #: Beats on their way.
        self._beating: set[asyncio.Task[None]] = set()
        self._stopped = False
        self._last_sent_at = self._now()
        self._last_failed = False

    def schedule(self) -> None:
        """Sets the timer anew; to be called whenever leases come or go."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._stopped:
            return
        due_at = self._due_at()
        if due_at is not None:
            wait = max(0.0, due_at - self._now())
            self._timer = asyncio.get_running_loop().call_later(wait, self._begin)

    def confirmed(self, answers: list[Answer], sent_at: float) -> None:
        """Another call was a beat as well, and was answered as one."""
        self._last_sent_at = max(self._last_sent_at, sent_at)
        self._last_failed = False
        self._apply(answers, sent_at)

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _due_at(self) -> Optional[float]:
        held = self._attempts.held()
        if not held:
            return None if self._presence_s == 0 or self._beating else self._last_sent_at + self._presence_s
        shortest = min(one.lease_s for one in held)
        # A beat that failed is soon sent again: a tenth of the lease leaves time for several more before it ends.
        pause = shortest / 10 if self._last_failed else shortest / BEATS_PER_LEASE
        # A new lease does not wait for an old beat's pause.
        is_about_these = any(one.started_at <= self._last_sent_at for one in held)
        soonest = self._last_sent_at + pause if is_about_these else float("-inf")
        # A call on its way is a beat too; but one that hangs must not cost the leases. Nor must a beat that hangs: another
        # one goes in its time beside it.
        wait = shortest / BEATS_PER_LEASE if self._is_calling() else 0.0
        return max(soonest, min(self._renewal_of(one) for one in held) + wait)

    def _renewal_of(self, attempt: Attempt) -> float:
        """When a third of the lease is over."""
        renewal = attempt.expires_at - attempt.lease_s + attempt.lease_s / BEATS_PER_LEASE
        # A claim renews a lease without a word of it: one that was lost all the same is heard of within its time.
        return min(renewal, max(attempt.started_at, self._last_sent_at) + attempt.lease_s)

    def _begin(self) -> None:
        sent_at = self._last_sent_at = self._now()
        self._last_failed = False
        beat = asyncio.ensure_future(self._beat(sent_at))
        self._beating.add(beat)
        beat.add_done_callback(self._ended)
        self.schedule()

    def _ended(self, beat: asyncio.Task[None]) -> None:
        self._beating.discard(beat)
        self.schedule()

    async def _beat(self, sent_at: float) -> None:
        leases = [one.lease for one in self._attempts.held()]
        try:
            self._apply(await self._deployment.heartbeat(leases), sent_at)
        except Exception as error:
            self._last_failed = self._last_sent_at == sent_at
            if not self._stopped:
                self._failed(error)

    def _apply(self, answers: list[Answer], sent_at: float) -> None:
        for answer in answers:
            if answer["answer"] in ("ok", "canceled"):
                self._attempts.renew(answer, sent_at)
            if answer["answer"] == "canceled":
                self._attempts.cancel(answer)
            if answer["answer"] == "leaseLost":
                self._attempts.lose(answer)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

"""The attempts of this process: each has a lease at the deployment, a slot in this process, or both.

    running --ends--> finished --answered--> (gone)
       `--leaseLost--> lost --ends, or is abandoned--> (gone)

A ``running`` attempt has lease and slot, a ``finished`` one only the lease, a ``lost`` one only the slot. One that is
to stop (canceled, too long, out of lease by the own clock) stays ``running`` until its handler has ended. Nothing here
knows of calls. Everything runs in the worker's event loop.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .limits import ABANDON_AFTER_S

Emit = Callable[[dict[str, Any]], None]
Lease = dict[str, Any]


@dataclass(eq=False)
class Attempt:
    facts: dict[str, Any]
    started_at: float
    #: By the worker's own clock: when the last acknowledged beat was *sent*, plus the lease.
    expires_at: float
    state: str = "running"
    #: Why its handler was signalled. Unless the lease was lost, it is still this worker's to end.
    reason: Optional[str] = None
    #: Set at the signal; handlers in threads read it.
    stop: threading.Event = field(default_factory=threading.Event)
    #: Cancels the task of an async handler.
    cancel_task: Callable[[], None] = lambda: None
    continued: list[dict[str, Any]] = field(default_factory=list)
    timer: Optional[asyncio.TimerHandle] = None
    timeout: Optional[asyncio.TimerHandle] = None

    @property
    def id(self) -> str:
        return self.facts["id"]

    @property
    def lease_s(self) -> float:
        return self.facts["leaseMs"] / 1_000

    @property
    def lease(self) -> Lease:
        return {"id": self.facts["id"], "attempt": self.facts["attempt"]}

    def about(self) -> dict[str, Any]:
        return {name: self.facts[name] for name in ("id", "queue", "attempt")}


class Attempts:
    def __init__(self, emit: Emit, changed: Callable[[], None], abandoned: Callable[[Attempt], None]) -> None:
        self._emit = emit
        self._changed = changed
        self._abandoned = abandoned
        self._all: dict[tuple[str, int], Attempt] = {}

    def add(self, facts: dict[str, Any], sent_at: float) -> Optional[Attempt]:
        """Takes up a claimed job; None if it is in hand already: the reply of a repeated call names it again."""
        key = (facts["id"], facts["attempt"])
        if key in self._all:
            return None
        now = self._now()
        attempt = Attempt(facts, started_at=now, expires_at=sent_at + facts["leaseMs"] / 1_000)
        self._all[key] = attempt
        self._watch_expiry(attempt)
        timeout_ms = facts.get("timeoutMs")
        if timeout_ms is not None:
            # From when the claim was sent: a little before the deployment's own bound.
            wait = max(0.0, sent_at + timeout_ms / 1_000 - now)
            attempt.timeout = self._later(wait, lambda: self._tell_to_stop(attempt, "timedOut"))
        return attempt

    def find(self, lease: Lease) -> Optional[Attempt]:
        return self._all.get((lease["id"], lease["attempt"]))

    def held(self) -> list[Attempt]:
        """Attempts with a lease that, as far as this process knows, still stands."""
        return [one for one in self._all.values() if one.state in ("running", "finished")]

    def running(self) -> list[Attempt]:
        return [one for one in self._all.values() if one.state == "running"]

    def slots_used(self) -> int:
        return len(self._slots())

    def cost_used(self) -> int:
        return sum(one.facts.get("cost", 1) for one in self._slots())

    def renew(self, lease: Lease, sent_at: float) -> None:
        """The deployment has confirmed the lease by a beat that was sent then."""
        attempt = self.find(lease)
        if attempt is not None:
            attempt.expires_at = max(attempt.expires_at, sent_at + attempt.lease_s)

    def renew_all(self, sent_at: float) -> None:
        """A claim or completion was answered: it was a beat for every lease in hand when it was sent."""
        for attempt in self.held():
            if attempt.started_at <= sent_at:
                self.renew(attempt.lease, sent_at)

    def cancel(self, lease: Lease) -> None:
        """The lease stands: its handler's result is still worth reporting."""
        attempt = self.find(lease)
        if attempt is not None:
            self._tell_to_stop(attempt, "canceled")

    def lose(self, lease: Lease) -> None:
        """The deployment says that the lease of a running handler is gone.

        A finished attempt gets its own answer from `complete`: a beat that crossed it says `leaseLost` of a job that
        has just been recorded.
        """
        attempt = self.find(lease)
        if attempt is None or attempt.state != "running":
            return
        attempt.state = "lost"
        self._signal(attempt, "leaseLost")
        self._abandon_later(attempt)
        self._changed()

    def stop(self, attempt: Attempt) -> None:
        """The worker's grace is over."""
        self.finish(attempt)
        self._signal(attempt, "stopping")

    def finish(self, attempt: Attempt) -> None:
        """The handler has ended, or its job is given back: the lease is kept until the outcome is recorded."""
        attempt.state = "finished"
        self._cancel_timers(attempt)
        self._changed()

    def drop(self, attempt: Attempt) -> None:
        attempt.state = "gone"
        self._cancel_timers(attempt)
        self._all.pop((attempt.facts["id"], attempt.facts["attempt"]), None)
        self._changed()

    def drop_lost(self) -> None:
        for attempt in list(self._all.values()):
            if attempt.state == "lost":
                self.drop(attempt)

    def drop_all(self) -> None:
        for attempt in list(self._all.values()):
            if attempt.reason is None:
                attempt.reason = "stopping"
            attempt.stop.set()
            attempt.cancel_task()
            self.drop(attempt)

    def _slots(self) -> list[Attempt]:
        return [one for one in self._all.values() if one.state in ("running", "lost")]

    def _watch_expiry(self, attempt: Attempt) -> None:
        def expired() -> None:
            if attempt.state != "running":
                return
            if self._now() < attempt.expires_at:
                return self._watch_expiry(attempt)
            self._tell_to_stop(attempt, "expired")

        attempt.timer = self._later(max(0.0, attempt.expires_at - self._now()), expired)

    def _tell_to_stop(self, attempt: Attempt, reason: str) -> None:
        if attempt.state == "running" and attempt.reason is None:
            self._signal(attempt, reason)
            self._abandon_later(attempt)

    def _signal(self, attempt: Attempt, reason: str) -> None:
        if attempt.reason is not None:
            return
        attempt.reason = reason
        kind = "aborted" if reason in ("canceled", "timedOut") else "leaseLost"
        self._emit({"kind": kind, "reason": reason, **attempt.about()})
        attempt.stop.set()
        attempt.cancel_task()

    def _abandon_later(self, attempt: Attempt) -> None:
        """A handler that ignores its signal does not keep its slot for ever."""

        def abandon() -> None:
            if attempt.state not in ("running", "lost"):
                return
            self._emit({"kind": "handlerAbandoned", **attempt.about()})
            if attempt.state == "lost":
                return self.drop(attempt)
            self._abandoned(attempt)

        if attempt.timer is not None:
            attempt.timer.cancel()
        attempt.timer = self._later(ABANDON_AFTER_S, abandon)

    def _cancel_timers(self, attempt: Attempt) -> None:
        for timer in (attempt.timer, attempt.timeout):
            if timer is not None:
                timer.cancel()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _later(self, seconds: float, run: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, run)

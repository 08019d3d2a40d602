"""Reports: the progress, log entries and output of all jobs in one call, one call at a time, at most so often.

Log entries and output are repeated until the deployment has answered for them, and the last of them go before the
outcome does. A call that is refused is taken apart, each job's part alone; alone it is tried a few times more, and
then given up, with an event that says so. It is given up at once where none was taken for a while, since outcomes wait
for it, and where the token has written as much as it may: then progress goes on. A call without an answer is repeated;
where it never has one, while the beats of its jobs have, it counts as refused.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .attempts import Attempt, Attempts
from .calls import backoff
from .deployment import Deployment
from .errors import ConveyorError
from .limits import (
    FLUSH_CHARS,
    FLUSH_S,
    LEASES_MAX,
    REPEAT_MAX_S,
    REPEAT_MIN_S,
    REPORT_INTERVAL_S,
    REPORT_MAX_BYTES,
    REPORT_MAX_ITEMS,
    REPORT_REFUSALS_MAX,
)
from .unsent import Budget, ReportBatch, UnsentReports

Emit = Callable[[dict[str, Any]], None]
NEVER = float("-inf")


@dataclass(eq=False)
class Pending:
    attempt: Attempt
    unsent: UnsentReports
    #: Since when text waits for more.
    text_since: float = 0.0
    #: The handler has ended: the rest is sent at once.
    is_last: bool = False
    #: It was in a call that was refused.
    alone: bool = False
    refusals: int = 0
    turn: int = 0
    done: Optional[asyncio.Future[None]] = None


@dataclass
class Reports:
    deployment: Deployment
    attempts: Attempts
    emit: Emit
    #: Reports a failed call, and judges it.
    failed: Callable[[BaseException], str]
    _pending: dict[Attempt, Pending] = field(default_factory=dict)
    _timer: Optional[asyncio.TimerHandle] = None
    _sending: Optional[asyncio.Task[None]] = None
    _stopped: bool = False
    _last_sent_at: float = NEVER
    _not_before: float = NEVER
    _failures: int = 0
    #: Calls that were refused since one was taken.
    _refusals: int = 0
    #: Calls without an answer since one was taken, with a beat in between that was answered; and when the last ended.
    _unheard: int = 0
    _failed_at: float = float("inf")
    _turns: int = 0

    def of(self, attempt: Attempt) -> UnsentReports:
        """The unsent reports of the attempt; to be followed by `changed`."""
        pending = self._pending.get(attempt)
        if pending is None:
            pending = self._pending[attempt] = Pending(attempt, UnsentReports(attempt.lease))
        return pending.unsent

    def changed(self, attempt: Attempt) -> None:
        pending = self._pending.get(attempt)
        if pending is None or self._stopped:
            return
        pending.text_since = pending.text_since or self._now()
        self._schedule()

    def flush(self, attempt: Attempt) -> Optional[asyncio.Future[None]]:
        """Sends the rest of an attempt that has ended. None if nothing is left; done when nothing can be done."""
        pending = self._pending.get(attempt)
        if pending is not None:
            pending.unsent.forget_progress()
        if pending is None or pending.unsent.is_empty or self._stopped:
            self._pending.pop(attempt, None)
            return None
        pending.is_last = True
        pending.done = asyncio.get_running_loop().create_future()
        self._schedule()
        return pending.done

    def stop(self) -> None:
        """Nothing more is sent, and no flush is waited for."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        for pending in list(self._pending.values()):
            self._finish(pending)

    # --- When ------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if self._sending is not None or self._stopped:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._forget_lost()
        due = [self._due_at(one) for one in self._pending.values() if not one.unsent.is_empty]
        if due:
            wait = max(0.0, max(min(due), self._not_before) - self._now())
            self._timer = asyncio.get_running_loop().call_later(wait, self._begin)

    def _due_at(self, pending: Pending) -> float:
        if pending.is_last:
            return NEVER
        soonest = self._last_sent_at + REPORT_INTERVAL_S
        text = pending.unsent.text
        if pending.unsent.is_ready or len(text) > FLUSH_CHARS or "\n" in text:
            return soonest
        return max(soonest, pending.text_since + FLUSH_S)

    def _forget_lost(self) -> None:
        for pending in list(self._pending.values()):
            if pending.attempt.state in ("lost", "gone"):
                self._finish(pending)

    # --- Sending ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._sending = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        taken: list[tuple[Pending, ReportBatch]] = []
        try:
            taken = self._take()
            if not taken:
                return
            self._last_sent_at = self._now()
            call: dict[str, Any] = {"updates": [], "logs": [], "output": []}
            for _, reported in taken:
                call["updates"] += reported.updates
                call["logs"] += reported.logs
                call["output"] += reported.output
            answers = await self.deployment.report(call)
            self._failures, self._refusals, self._not_before = 0, 0, NEVER
            self._unheard, self._failed_at = 0, float("inf")
            self._answered(taken, answers)
        except Exception as error:
            if not self._stopped:
                self._not_answered(taken, error)
        finally:
            self._sending = None
            self._schedule()

    def _take(self) -> list[tuple[Pending, ReportBatch]]:
        self._forget_lost()
        # Reports with a waiting outcome first, and then in turn: a talkative job holds up no other.
        waiting = [one for one in self._pending.values() if not one.unsent.is_empty]
        waiting.sort(key=lambda one: (not one.is_last, one.turn))
        single = next((one for one in waiting if one.alone), None)
        self._turns += 1
        room = Budget(REPORT_MAX_ITEMS, REPORT_MAX_BYTES)
        taken = []
        for one in waiting[:LEASES_MAX] if single is None else [single]:
            reported = one.unsent.take(room)
            one.text_since = 0.0
            if len(reported) > 0:
                one.turn = self._turns
                taken.append((one, reported))
        return taken

    def _answered(self, taken: list[tuple[Pending, ReportBatch]], answers: list[dict[str, Any]]) -> None:
        by_lease = {(one["id"], one["attempt"]): one for one in answers}
        for pending, reported in taken:
            lease = pending.attempt.lease
            answer = by_lease.get((lease["id"], lease["attempt"]))
            if answer is None:  # The call had no room for it: it is said again.
                continue
            if answer["answer"] in ("leaseLost", "recorded"):
                self.attempts.lose(lease)
                self._finish(pending)
                continue
            if answer["answer"] == "canceled":
                self.attempts.cancel(lease)
            pending.alone, pending.refusals = False, 0
            self._tell_refused(pending, pending.unsent.confirm(reported, answer), "The job has reported all that it may.")
            if pending.is_last and pending.unsent.is_empty:
                self._finish(pending)

    def _not_answered(self, taken: list[tuple[Pending, ReportBatch]], error: Exception) -> None:
        if self.failed(error) == "rejected":
            return self._refused([pending for pending, _ in taken], error)
        given = [pending for pending, _ in taken]
        is_heard = any(one.attempt.expires_at - one.attempt.lease_s > self._failed_at for one in given)
        self._failed_at = self._now()
        self._unheard += is_heard
        if is_heard and self._unheard >= REPORT_REFUSALS_MAX:
            return self._refused(given, error)
        self._wait(self._failures)
        self._failures += 1

    def _refused(self, given: list[Pending], error: Exception) -> None:
        if isinstance(error, ConveyorError) and error.code == "quotaExceeded":
            for pending in given:
                self._give_up(pending, error)
            return
        self._refusals += 1
        for pending in given:
            pending.alone = True
        if len(given) > 1:
            return self._wait(0)
        pending = given[0]
        pending.refusals += 1
        if pending.refusals < REPORT_REFUSALS_MAX and self._refusals <= 2 * REPORT_REFUSALS_MAX:
            return self._wait(pending.refusals)
        pending.unsent.forget_progress()
        self._give_up(pending, error)

    def _wait(self, times: int) -> None:
        self._not_before = self._now() + backoff(times, REPEAT_MIN_S, REPEAT_MAX_S)

    def _give_up(self, pending: Pending, error: Exception) -> None:
        self._tell_refused(pending, pending.unsent.drop(), str(error))
        pending.alone, pending.refusals = False, 0
        if pending.is_last:
            self._finish(pending)

    def _tell_refused(self, pending: Pending, refused: tuple[int, int], error: str) -> None:
        logs, output = refused
        if logs + output > 0:
            about = pending.attempt.about()
            self.emit({"kind": "reportRefused", "logs": logs, "output": output, "error": error, **about})

    def _finish(self, pending: Pending) -> None:
        self._pending.pop(pending.attempt, None)
        if pending.done is not None and not pending.done.done():
            pending.done.set_result(None)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

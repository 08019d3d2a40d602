"""The worker itself: one loop that records finished outcomes, claims jobs for its free slots, and otherwise sleeps.

It is the only one that makes numbered calls, so these are one at a time by construction.

    step:  outcomes to send?  -> complete, and claim in the same call while there is room
           room, and a claim due?  -> claim
           else  -> sleep until a handler ends, a question is answered, a lease changes, or a time comes

Stopping: nothing more is claimed, handlers may end; when the grace is over they are signalled and their jobs given
back; when the time of the last calls is over too, the loop ends all that is left.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Mapping, Optional, Protocol

from .asking import Asking
from .attempts import Attempt, Attempts
from .calls import CallEnd, Calls
from .deployment import Deployment
from .errors import function_missing, is_function_missing, kind_of
from .handlers import Beside, Handler
from .heart import Heart
from .job import Job
from .limits import LAST_CALLS_S, LEASES_MAX, LOGS_MAX
from .outbox import Outbox, Sending
from .outcome import HandlerEnd, Outcome, bytes_of, outcome_of_abandoned, outcome_of_stopped
from .reports import Reports
from .session import confirmed, greet, say_goodbye, watch_cancellations

Event = dict[str, Any]


class Runs(Protocol):
    """Runs a handler to its end."""

    async def run(self, handler: Handler, job: Job, attempt: Attempt) -> HandlerEnd: ...


@dataclass
class LoopOptions:
    deployment: Deployment
    handlers: Mapping[str, Handler]
    runs: Runs
    emit: Callable[[Event], None]
    concurrency: int
    poll_min_s: float
    poll_max_s: float
    presence_s: float
    grace_s: float


class Loop:
    def __init__(self, options: LoopOptions) -> None:
        self._options = options
        self._deployment = options.deployment
        self._emit = options.emit
        self._wake = asyncio.Event()
        self._phase = "working"
        self._error: Optional[BaseException] = None
        self._grace: Optional[asyncio.TimerHandle] = None
        self._grace_ends_at = float("inf")
        #: Attempts that have ended, with last reports still on their way.
        self._ending = 0
        self._asks: Optional[asyncio.Task[None]] = None
        self._tasks: set[asyncio.Future[Any]] = set()
        self._outbox = Outbox()
        self._beside = Beside()
        self._calls = Calls(options.emit)
        self._asking = Asking(options.poll_min_s, options.poll_max_s)
        self._attempts = Attempts(options.emit, self._changed, lambda one: self._conclude(one, outcome_of_abandoned(one)))
        self._heart = Heart(
            options.deployment,
            self._attempts,
            options.presence_s,
            lambda: self._calls.is_calling,
            lambda error: self._side_call_failed("heartbeat", error),
        )
        self._reports = Reports(
            options.deployment,
            self._attempts,
            options.emit,
            lambda error: self._side_call_failed("report", error),
        )

    async def run(self) -> None:
        """Works until it is stopped. Raises the error that ended it, if one did."""
        self._heart.schedule()
        watching = self._spawn(watch_cancellations(self._deployment, self._attempts, self._side_call_failed))
        try:
            self._failed("hello", await greet(self._deployment, self._calls, self._emit))
            while not self._is_over():
                await self._step()
        finally:
            # Also after an error of this file: beats that go on would keep the jobs from every other worker.
            self._end()
            watching.cancel()
            if self._calls.ever_answered:
                await say_goodbye(self._deployment, self._calls.after)
        if self._error is not None:
            raise self._error

    def stop(self, grace_s: Optional[float] = None) -> None:
        """Claims nothing more, and ends within the grace and the time of the last calls. A second call only hurries it."""
        grace = self._options.grace_s if grace_s is None else grace_s
        ends_at = self._now() + grace
        if self._phase == "over" or ends_at >= self._grace_ends_at:
            return
        self._phase, self._grace_ends_at = "stopping", ends_at
        self._emit({"kind": "stopping", "grace_s": grace})
        if self._grace is not None:
            self._grace.cancel()
        # With nothing in hand, only a call in flight is waited for, and that briefly.
        wait = grace if self._is_busy() else min(grace, LAST_CALLS_S)
        self._grace = asyncio.get_running_loop().call_later(wait, self._end_grace)
        self._wake.set()

    # --- The loop --------------------------------------------------------------------------------

    async def _step(self) -> None:
        sending = self._outbox.next()
        room = self._room(len(sending.items))
        if sending.items:
            return await self._complete(sending, 0 if sending.alone else room)
        asking = self._asking
        ask_at = asking.next_at if room > 0 and self._asks is None else None
        if ask_at is not None and ask_at <= self._now():
            if asking.is_sure:
                return await self._claim(room)
            self._asks = self._spawn(self._ask())
            ask_at = None
        await self._sleep_until(ask_at, self._outbox.next_due_at())

    async def _ask(self) -> None:
        try:
            has_work = await self._deployment.has_work()
            if not has_work:
                self._asking.is_doubtful = False
            elif self._asking.is_doubtful:
                has_work = await self._deployment.has_work(named=True)
            self._asking.knows(has_work)
        except Exception as error:
            self._asking.failed()
            self._side_call_failed("hasWork", error)
        finally:
            self._asks = None
            self._wake.set()

    async def _claim(self, room: int) -> None:
        request = self._asking.request(room, self._budget())
        end = await self._call("claim", lambda call_seq: self._deployment.claim(call_seq, request))
        if end.kind == "answered":
            return await self._claimed(end, room)
        self._asking.refused()
        self._failed("claim", end)

    async def _complete(self, sending: Sending, room: int) -> None:
        await self._hand_over(sending)
        reports = sending.reports
        named = {(one["id"], one["attempt"]) for one in reports}
        held = [one.lease for one in self._attempts.held() if (one.id, one.facts["attempt"]) not in named]
        asks = room > 0 and self._asking.is_busy
        options: dict[str, Any] = {
            **({"deferCallbacks": True} if sending.defer_callbacks else {}),
            **({"held": held} if held else {}),
            **({"claim": self._asking.request(room, self._budget())} if asks else {}),
        }
        end = await self._call("complete", lambda call_seq: self._deployment.complete(call_seq, reports, options))
        if end.kind == "answered":
            if "held" in end.reply:
                self._heart.confirmed(end.reply["held"], end.sent_at)
            self._settle(end.reply)
            # A job in a reply to a call that asked for none comes from an earlier copy of it; it is held as well.
            if asks or end.reply["jobs"]:
                await self._claimed(end, room)
            return
        self._outbox.reject(sending)
        if asks:
            self._asking.refused()
        self._failed("complete", end)

    async def _hand_over(self, sending: Sending) -> None:
        """Changes nothing by itself, and a repeat does no harm: it has no number."""
        if not sending.hand_over:
            return
        try:
            handed = await self._calls.until_given_up(self._deployment.complete_later(sending.reports[0]))
            if handed is not None:
                handed.result()
                sending.items[0].handed_over = True
        except Exception as error:
            self._side_call_failed("complete", error)

    def _settle(self, reply: dict[str, Any]) -> None:
        """Each outcome by its own answer. One that the reply does not name stays, and goes with the next call."""
        for refused in reply.get("refused", []):
            attempt = self._attempts.find(refused)
            if attempt is not None:
                self._emit({"kind": "resultRefused", "error": refused["error"], **attempt.about()})
        for one in reply["answers"]:
            report, attempt = self._outbox.settle(one), self._attempts.find(one)
            if report is None or attempt is None:
                continue
            if one["answer"] in ("ok", "recorded"):
                self._emit({"kind": "recorded", "answer": one["answer"], **attempt.about()})
            else:
                self._emit({"kind": "leaseLost", "reason": one["answer"], **attempt.about()})
            self._attempts.drop(attempt)

    async def _call(self, name: str, send: Callable[[int], Awaitable[Any]]) -> CallEnd:
        """A numbered call. One that was answered has renewed all leases, as a beat does."""
        calling = asyncio.ensure_future(self._calls.run(name, send))
        await asyncio.sleep(0)  # It has begun: the heart counts on it as a beat.
        self._heart.schedule()
        end = await calling
        if end.kind == "answered":
            self._attempts.renew_all(end.sent_at)
        self._heart.schedule()
        return end

    def _room(self, recorded: int) -> int:
        """How many jobs to ask for, once so many outcomes are recorded."""
        budget = self._budget()
        if self._phase != "working" or (budget is not None and budget <= 0):
            return 0
        slots = self._options.concurrency - self._attempts.slots_used()
        leases = LEASES_MAX - (len(self._attempts.held()) - recorded)
        return max(0, min(slots, leases))

    def _budget(self) -> Optional[int]:
        """The part of the worker's budget that running jobs leave over."""
        max_cost = self._deployment.max_cost
        return None if max_cost is None else max_cost - self._attempts.cost_used()

    # --- Jobs ------------------------------------------------------------------------------------

    async def _claimed(self, end: CallEnd, asked: int) -> None:
        jobs = end.reply["jobs"]
        self._asking.claimed(len(jobs), asked, end.reply.get("cursor"))
        begun: list[Attempt] = []
        confirming = await self._calls.until_given_up(confirmed(self._deployment, end, jobs))
        for facts, sent_at, is_canceled in confirming.result() if confirming is not None else []:
            attempt = self._attempts.add(facts, sent_at)
            if attempt is not None:
                begun.append(attempt)
                if is_canceled:
                    self._attempts.cancel(attempt.lease)
        if begun:
            self._emit({"kind": "claimed", "jobs": [one.about() for one in begun]})
        for attempt in begun:
            self._begin(attempt)
        self._changed()

    def _begin(self, attempt: Attempt) -> None:
        handler = self._options.handlers.get(attempt.facts["queue"])
        if handler is None or self._phase != "working" or self._now() >= attempt.expires_at:
            # No handler, a stop while the claim was on its way, or a lease that is over: another worker has it.
            return self._conclude(attempt, {"kind": "released"})
        if attempt.reason is not None:
            return self._conclude(attempt, outcome_of_abandoned(attempt))
        if self._beside.has(attempt.id):
            self._spawn(self._begin_after(attempt))
            return
        job = Job(attempt, asyncio.get_running_loop(), lambda kind, value: self._report(attempt, kind, value))
        end = self._spawn(self._options.runs.run(handler, job, attempt))
        self._beside.begin(attempt.id, end)
        end.add_done_callback(lambda end: self._ended(attempt, end.result()))

    async def _begin_after(self, attempt: Attempt) -> None:
        """Its last attempt was lost, and that handler goes on after its signal."""
        await self._beside.wait(attempt.id)
        if attempt.state == "lost":
            return self._attempts.drop(attempt)
        if attempt.state != "running":
            return
        if self._beside.has(attempt.id):
            return self._conclude(attempt, self._beside.back(attempt.id))
        self._begin(attempt)

    def _report(self, attempt: Attempt, kind: str, value: Any) -> None:
        """A handler reports. Reports of an attempt that is lost or over are dropped."""
        if kind == "log":
            self._emit({"kind": "log", **value, **attempt.about()})
        if attempt.state != "running" or self._phase == "over":
            return
        unsent = self._reports.of(attempt)
        if kind == "progress":
            unsent.show(value)
        elif kind == "log" and not unsent.log(value):
            why = f"A job has at most {LOGS_MAX} log entries."
            self._emit({"kind": "reportRefused", "logs": 1, "output": 0, "error": why, **attempt.about()})
        elif kind == "write" and not unsent.is_full:
            unsent.write(value)
        self._reports.changed(attempt)

    def _ended(self, attempt: Attempt, end: HandlerEnd) -> None:
        if self._phase == "over":
            return
        if attempt.state != "running":
            self._emit({"kind": "resultDropped", "outcome": end.outcome["kind"], **attempt.about()})
            if attempt.state == "lost":
                self._attempts.drop(attempt)
            return
        outcome = outcome_of_stopped(attempt, end)
        ms = round((self._now() - attempt.started_at) * 1_000)
        error = {"error": outcome["error"]} if "error" in outcome else {}
        self._emit({"kind": "finished", "outcome": outcome["kind"], "ms": ms, **error, **attempt.about()})
        if end.refused is not None:
            self._emit({"kind": "resultRefused", "error": end.refused, **attempt.about()})
        self._conclude(attempt, outcome)

    def _conclude(self, attempt: Attempt, outcome: Outcome) -> None:
        """Ends an attempt's part: the rest of its reports goes first, then its outcome."""
        self._attempts.finish(attempt)
        rest = self._reports.flush(attempt)
        if rest is None:
            return self._put(attempt, outcome)
        self._ending += 1

        def flushed(_: object) -> None:
            self._ending -= 1
            self._put(attempt, outcome)

        rest.add_done_callback(flushed)

    def _put(self, attempt: Attempt, outcome: Outcome) -> None:
        # A copy: a thread that the handler has left behind may go on.
        continued = list(attempt.continued) if outcome["kind"] == "succeeded" else []
        following = {"continued": continued} if continued else {}
        report = {**attempt.about(), "outcome": outcome, **following}
        self._outbox.put(report, bytes_of(outcome, continued))
        self._wake.set()

    # --- Trouble, and the end --------------------------------------------------------------------

    def _failed(self, call: str, end: CallEnd) -> None:
        if end.kind == "rejected":
            self._emit({"kind": "callRejected", "call": call, "error": str(end.error)})
        elif end.kind == "fatal" and end.error is not None:
            error = function_missing(end.error) if is_function_missing(end.error) else end.error
            self._error = self._error or error
            self._phase = "over"
            self._calls.give_up()
            self._wake.set()
        elif end.kind == "unserved":
            self._error = self._error or end.error
            if self._phase == "working":
                self.stop()

    def _side_call_failed(self, call: str, error: BaseException) -> str:
        """Calls outside the numbered ones repeat themselves; only an error that ends the worker matters here."""
        kind = kind_of(error, self._calls.ever_answered)
        if kind == "unanswered":
            self._emit({"kind": "callRepeated", "call": call, "error": str(error), "in_s": 0})
        else:
            self._failed(call, CallEnd(kind, error=error))
        self._wake.set()
        return kind

    def _is_over(self) -> bool:
        return self._phase == "over" or (self._phase == "stopping" and not self._is_busy())

    def _is_busy(self) -> bool:
        return self._attempts.slots_used() > 0 or self._ending > 0 or len(self._outbox) > 0

    def _end_grace(self) -> None:
        self._grace_ends_at = float("-inf")
        for attempt in self._attempts.running():
            self._attempts.stop(attempt)
            self._conclude(attempt, {"kind": "released"})
        self._attempts.drop_lost()
        # An outcome waits for its attempt's reports, and is worth more than these.
        self._grace = asyncio.get_running_loop().call_later(LAST_CALLS_S / 2, self._end_reports)

    def _end_reports(self) -> None:
        self._reports.stop()
        self._grace = asyncio.get_running_loop().call_later(LAST_CALLS_S / 2, self._give_up)

    def _give_up(self) -> None:
        self._phase = "over"
        self._calls.give_up()
        self._wake.set()

    def _end(self) -> None:
        self._phase = "over"
        if self._grace is not None:
            self._grace.cancel()
        self._calls.give_up()
        self._heart.stop()
        self._reports.stop()
        self._attempts.drop_all()
        self._emit({"kind": "stopped", "unrecorded": len(self._outbox)})

    def _changed(self) -> None:
        self._heart.schedule()
        self._wake.set()

    async def _sleep_until(self, *instants: Optional[float]) -> None:
        until = min((one for one in instants if one is not None), default=None)
        try:
            await asyncio.wait_for(self._wake.wait(), None if until is None else max(0.0, until - self._now()))
        except asyncio.TimeoutError:
            pass
        self._wake.clear()

    def _spawn(self, coroutine: Any) -> "asyncio.Task[Any]":
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

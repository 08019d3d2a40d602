"""The calls of a session that are not numbered: its greeting, its goodbye, and questions about its leases."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Callable

from .attempts import Attempts
from .calls import CallEnd, Calls
from .deployment import Deployment
from .errors import ConveyorError
from .limits import CANCEL_POLL_AFTER_S, CANCEL_POLL_S, GOODBYE_S, PROTOCOL

Emit = Callable[[dict[str, Any]], None]


async def greet(deployment: Deployment, calls: Calls, emit: Emit) -> CallEnd:
    """Whether the deployment has the functions and version that the worker needs."""
    end = await calls.ask("hello", deployment.hello)
    if end.kind == "answered" and end.reply["protocol"] < PROTOCOL:
        version = end.reply.get("version")
        message = f"The deployment's worker functions ({version}) are older than this worker. Deploy newer ones first."
        return CallEnd("fatal", error=ConveyorError("workerApiMissing", message))
    if end.kind == "answered" and end.reply.get("notServed"):
        emit({"kind": "queuesNotServed", "queues": end.reply["notServed"]})
    return end


async def say_goodbye(deployment: Deployment, leaving: int) -> None:
    """The session is over, so that no job is left to it for the minute in which a silent one counts as live."""
    try:
        await asyncio.wait_for(deployment.heartbeat([], leaving), GOODBYE_S)
    except Exception:
        pass  # ReportBatch once: a deployment that does not answer forgets the session by itself.


async def confirmed(deployment: Deployment, end: CallEnd, jobs: list[Any]) -> list[tuple[Any, float, bool]]:
    """Asks whether jobs that a repeated or slow call brought are still held, before they begin.

    It is unknown which copy of the call took effect: the leases may be nearly over, or quite new. Returns each job
    with the instant from which its lease counts, and whether it was canceled before it began.
    """
    sent_at = asyncio.get_running_loop().time()
    is_soon = all(sent_at - end.sent_at < job["leaseMs"] / 2_000 for job in jobs)
    if end.repeats == 0 and is_soon:
        return [(job, end.sent_at, False) for job in jobs]
    try:
        leases = [{"id": job["id"], "attempt": job["attempt"]} for job in jobs]
        answers = {(one["id"], one["attempt"]): one["answer"] for one in await deployment.heartbeat(leases)}
        pairs = [(job, answers[job["id"], job["attempt"]]) for job in jobs]
        return [(job, sent_at, reported == "canceled") for job, reported in pairs if reported in ("ok", "canceled")]
    except Exception:
        # Then the oldest copy is the safe assumption: a job with a lease that is over by it goes back at once.
        return [(job, end.sent_at, False) for job in jobs]


async def watch_cancellations(
    deployment: Deployment, attempts: Attempts, failed: Callable[[str, BaseException], object]
) -> None:
    """Asks which jobs of the session are canceled, while one runs for longer. Beats say the same, more seldom."""
    now = asyncio.get_running_loop().time
    while True:
        await asyncio.sleep(CANCEL_POLL_S * random.uniform(0.5, 1.0))
        since = min((one.started_at for one in attempts.running()), default=now())
        if now() - since < CANCEL_POLL_AFTER_S:
            continue
        try:
            for lease in await deployment.cancellations():
                attempts.cancel(lease)
        except Exception as error:
            failed("cancellations", error)

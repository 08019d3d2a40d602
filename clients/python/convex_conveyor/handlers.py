"""Runs handlers: a plain function in a thread, an ``async def`` in the event loop of handlers.

It also knows the jobs with a handler here: the handler of a lost attempt may go on after its signal, and a second
handler of the same job would disturb it.
"""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future
from typing import Any, Awaitable, Callable, Union

from .attempts import Attempt
from .job import Job
from .limits import BESIDE_BACK_MAX_S, BESIDE_S
from .outcome import HandlerEnd, end_of_error, end_of_value
from .threads import HandlerLoop, Threads

Handler = Callable[[Job], Union[Any, Awaitable[Any]]]


class Handlers:
    """Starts handlers, each in its place. Always ends with an outcome, unless the handler never does."""

    def __init__(self, threads: Threads, loop: HandlerLoop) -> None:
        self._threads = threads
        self._loop = loop

    async def run(self, handler: Handler, job: Job, attempt: Attempt) -> HandlerEnd:
        try:
            if is_async(handler):
                return await self._run_async(handler(job), attempt)
            end = await asyncio.wrap_future(self._threads.submit(lambda: ended(handler, job)))
            return end if isinstance(end, HandlerEnd) else await self._run_async(end, attempt)
        except BaseException as error:
            return end_of_error(error)

    async def _run_async(self, awaitable: Any, attempt: Attempt) -> HandlerEnd:
        end, cancel = self._loop.start(ended_async(awaitable))
        attempt.cancel_task = cancel
        if attempt.stop.is_set():
            cancel()
        future: Future[HandlerEnd] = end
        return await asyncio.wrap_future(future)


def is_async(handler: Any) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))


def ended(handler: Handler, job: Job) -> Union[HandlerEnd, Awaitable[Any]]:
    """The handler's end, made in its thread: to check and copy a large result in the worker's loop would cost leases.

    An error is a value here: a future of asyncio takes no StopIteration, and would never be done.
    """
    try:
        value = handler(job)
        return value if inspect.isawaitable(value) else end_of_value(value)
    except BaseException as error:
        return end_of_error(error)


async def ended_async(awaitable: Awaitable[Any]) -> HandlerEnd:
    try:
        return end_of_value(await awaitable)
    except BaseException as error:
        return end_of_error(error)


class Beside:
    """The handlers that run, by their job's id."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Future[Any]] = {}
        #: How often a job has gone back to wait for the handler that runs here.
        self._backs: dict[str, int] = {}

    def has(self, job: str) -> bool:
        return job in self._running

    def begin(self, job: str, end: "asyncio.Future[Any]") -> None:
        self._running[job] = end
        end.add_done_callback(lambda _: self._end(job))

    def _end(self, job: str) -> None:
        self._running.pop(job, None)
        self._backs.pop(job, None)

    async def wait(self, job: str) -> None:
        """Waits for the handler of the job, for a second at most: then the job goes back."""
        running = self._running.get(job)
        if running is not None:
            await asyncio.wait({running}, timeout=BESIDE_S)

    def back(self, job: str) -> dict[str, Any]:
        """The end of an attempt that has waited in vain: another worker may have its job at once.

        One that comes here again has found none, and comes ever more seldom: the handler may never end.
        """
        backs = self._backs.get(job, 0)
        self._backs[job] = backs + 1
        if backs == 0:
            return {"kind": "released"}
        wait = min(BESIDE_BACK_MAX_S, BESIDE_S * 2 ** min(backs, 30))
        return {"kind": "snoozed", "runAfter": round(wait * 1_000)}

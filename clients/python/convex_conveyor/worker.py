"""The worker as a program uses it: checks the options, connects, and runs the loop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import uuid
from typing import Any, Callable, Mapping, Optional, Sequence, Union
from urllib.parse import urlsplit

from .deployment import Deployment, Offer
from .errors import ConveyorError
from .handlers import Handler, Handlers
from .http import Http
from .limits import (
    COST_MAX,
    GRACE_S,
    GROUPS_MAX,
    LABELS_MAX,
    LEASES_MAX,
    NAME_MAX_LENGTH,
    POLL_MAX_S,
    POLL_MIN_S,
    PRESENCE_S,
    QUEUES_MAX,
    SAME_SIGNAL_S,
)
from .loop import Loop, LoopOptions
from .threads import HandlerLoop, Threads

Event = dict[str, Any]
log = logging.getLogger("convex_conveyor")

#: Events that are problems: without `on_event`, they go to the logger as warnings.
PROBLEMS = {"queuesNotServed", "leaseLost", "resultRefused", "reportRefused", "handlerAbandoned", "callRejected"}
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}


class Worker:
    """A program that does jobs: claims as many as it has room for, runs their handlers, records the results.

    Example::

        def render(job: Job) -> dict:
            return {"bytes": len(draw(job.payload["scene"]))}

        Worker(os.environ["CONVEX_URL"], os.environ["CONVEYOR_TOKEN"], ["tiles"], render, module="workers").run()
    """

    def __init__(
        self,
        url: str,
        token: str,
        queues: Sequence[str],
        handler: Union[Handler, Mapping[str, Handler]],
        *,
        module: str,
        concurrency: int = 1,
        name: Optional[str] = None,
        labels: Sequence[str] = (),
        groups: Sequence[str] = (),
        max_cost: Optional[int] = None,
        poll_min_s: float = POLL_MIN_S,
        poll_max_s: float = POLL_MAX_S,
        presence_s: float = PRESENCE_S,
        grace_s: float = GRACE_S,
        handle_signals: bool = True,
        on_event: Optional[Callable[[Event], None]] = None,
    ) -> None:
        """Checks the options; connects to nothing.

        url: The deployment's URL, as in ``https://happy-otter-123.convex.cloud``.
        token: A worker token, as ``tokens:create`` printed it.
        queues: The queues to serve, 1 to 32.
        handler: Does one job: a function or ``async def``. Or one for each queue, by its name.
        module: The path of the app's module that exports the worker functions, as in ``"workers"``.
        concurrency: How many jobs to run at once, 1 to 64. Default 1.
        name: Shown in lists of workers, 1 to 64 characters. Default: the host's name and the process id.
        labels: Labels of this worker: it gets jobs that ask for no other label. Up to 64.
        groups: Claims only jobs of these groups, up to 64. Default: the token's.
        max_cost: The budget out of which its jobs' ``cost`` is taken. Default: no bound.
        poll_min_s, poll_max_s: Between two questions for work of an idle worker, in seconds. Each wait grows from the
            first to the second, and is a random half to whole of it. Default 0.25 and 5.
        presence_s: How often an idle worker says that it is there; 0 for never. Default 60.
        grace_s: How long handlers may go on after SIGTERM or SIGINT, in seconds. Default 8: Docker kills after 10.
        handle_signals: Whether SIGTERM and SIGINT stop the worker, where ``run`` is called in the main thread.
        on_event: Gets each event, a dict with ``kind``, in the worker's thread. Default: problems go to the logger.

        Raises ConveyorError ``invalidArgument`` or ``handlerMissing``.
        """
        check_url(url)
        check(bool(token), "token", "is a worker token, as tokens:create printed it: is the environment variable set?")
        check(not isinstance(queues, str) and 1 <= len(queues) <= QUEUES_MAX, "queues", "is a list of 1 to 32 names")
        check(bool(module), "module", 'is the path of the module with the worker functions, as in "workers"')
        check(is_whole(concurrency, LEASES_MAX), "concurrency", f"is a whole number from 1 to 64; got {concurrency!r}")
        check(is_list(labels, LABELS_MAX), "labels", f"is a list of up to 64 texts; got {labels!r}")
        check(is_list(groups, GROUPS_MAX), "groups", f"is a list of up to 64 texts; got {groups!r}")
        is_budget = max_cost is None or is_whole(max_cost, COST_MAX)
        check(is_budget, "max_cost", f"is a whole number from 1 to 1,000,000,000; got {max_cost!r}")
        check(0 < poll_min_s <= poll_max_s, "poll_min_s", "is more than 0, and at most poll_max_s")
        check(grace_s >= 0 and presence_s >= 0, "grace_s", "and presence_s are 0 or more")
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"[-NAME_MAX_LENGTH:]
        check(1 <= len(self.name) <= NAME_MAX_LENGTH, "name", "is 1 to 64 characters")
        #: Tells this run from an earlier one under the same name.
        self.session_key = str(uuid.uuid4())
        self._made_in = os.getpid()
        self._handlers = handlers_by_queue(queues, handler)
        # One order for a whole fleet: then its questions share an answer.
        self._offer = Offer(sorted(set(queues)), sorted(set(labels)), sorted(set(groups)))
        self._url, self._token, self._module, self._max_cost = url.rstrip("/"), token, module, max_cost
        self._concurrency = concurrency
        self._times = {"poll_min_s": poll_min_s, "poll_max_s": poll_max_s, "presence_s": presence_s, "grace_s": grace_s}
        self._handle_signals = handle_signals
        self._on_event = on_event or log_event
        self._lock = threading.Lock()
        self._loop: Optional[Loop] = None
        self._event_loop: Optional[asyncio.AbstractEventLoop] = None
        self._was_stopped = False
        self._is_started = False

    def run(self) -> None:
        """Connects and works until the worker is stopped. A worker runs once.

        Raises the ConveyorError that ended the run: ``tokenRevoked``, ``unknownQueue``, ``workerApiMissing`` and so on.
        A deployment out of reach is no error: it is tried again.
        """
        with self._lock:
            check(not self._is_started, "run", "is called once: make another worker")
            self._is_started = True
        if os.getpid() != self._made_in:
            # The copy of a fork: under one key, each process would be given the jobs of the others.
            self.session_key = str(uuid.uuid4())
        asyncio.run(self._work())

    def stop(self, grace_s: Optional[float] = None) -> None:
        """Stops gracefully, from any thread: ``run`` returns, at most 2 s after the grace. A second call hurries it."""
        check(grace_s is None or grace_s >= 0, "grace_s", f"is 0 or more; got {grace_s!r}")
        with self._lock:
            self._was_stopped = True
            loop, event_loop = self._loop, self._event_loop
        if loop is not None and event_loop is not None:
            try:
                event_loop.call_soon_threadsafe(loop.stop, grace_s)
            except RuntimeError:
                pass  # It has ended already.

    async def _work(self) -> None:
        calls, handlers, async_handlers = Threads("conveyor-call"), Threads("conveyor-handler"), HandlerLoop()
        wire = Http(self._url)
        deployment = Deployment(
            wire, calls, self._module, self._token, self.session_key, self.name, self._offer, self._max_cost
        )
        loop = Loop(
            LoopOptions(
                deployment=deployment,
                handlers=self._handlers,
                runs=Handlers(handlers, async_handlers),
                emit=self._emit,
                concurrency=self._concurrency,
                **self._times,
            )
        )
        with self._lock:
            self._loop, self._event_loop = loop, asyncio.get_running_loop()
            if self._was_stopped:
                return  # Stopped before it has begun: then it never does.
        unlisten = self._listen(loop)
        self._emit({"kind": "started", "name": self.name, "sessionKey": self.session_key, "queues": self._offer.queues})
        try:
            await loop.run()
        finally:
            unlisten()
            async_handlers.stop()
            wire.close()

    def _listen(self, loop: Loop) -> Callable[[], None]:
        """Stops the loop at SIGTERM and SIGINT: the first with the grace, the second at once."""
        if not self._handle_signals or threading.current_thread() is not threading.main_thread():
            return lambda: None
        running = asyncio.get_running_loop()
        last_at = float("-inf")
        times = 0

        def stop() -> None:
            nonlocal last_at, times
            if running.time() - last_at < SAME_SIGNAL_S:
                return
            last_at, times = running.time(), times + 1
            loop.stop(None if times == 1 else 0.0)

        signals = (signal.SIGTERM, signal.SIGINT)
        before = {one: signal.getsignal(one) for one in signals}
        for one in signals:
            # A handler of `signal` wakes the loop on every system, `add_signal_handler` on Unix alone.
            signal.signal(one, lambda *_: running.call_soon_threadsafe(stop))

        def unlisten() -> None:
            for one, handler in before.items():
                signal.signal(one, handler)

        return unlisten

    def _emit(self, event: Event) -> None:
        """A listener that raises does not end the work that it listens to."""
        try:
            self._on_event(event)
        except Exception:
            log.exception("on_event raised")


def handlers_by_queue(queues: Sequence[str], handler: Union[Handler, Mapping[str, Handler]]) -> dict[str, Handler]:
    by_queue = dict(handler) if isinstance(handler, Mapping) else {queue: handler for queue in queues}
    for queue in queues:
        if not callable(by_queue.get(queue)):
            raise ConveyorError("handlerMissing", f"The worker is to serve the queue {queue!r} and has no handler for it.")
    return by_queue


def check(is_good: bool, option: str, rule: str) -> None:
    if not is_good:
        raise ConveyorError("invalidArgument", f"The worker's `{option}` {rule}.", {"argument": option})


def is_whole(number: Any, most: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= most


def is_list(given: Any, most: int) -> bool:
    """A text is none: it would be taken for its letters, and no job has these as labels."""
    return not isinstance(given, str) and len(given) <= most


def check_url(url: str) -> None:
    parts = urlsplit(url or "")
    check(
        parts.scheme in ("http", "https") and bool(parts.hostname),
        "url",
        f"is the deployment's address, as in https://happy-otter-123.convex.cloud; got {url!r}",
    )
    is_site = (parts.hostname or "").endswith(".convex.site")
    check(not is_site, "url", "ends with .convex.cloud: give it CONVEX_URL, not CONVEX_SITE_URL")


def log_event(event: Event) -> None:
    """Problems and log entries, to the logger `convex_conveyor`; all else at the level of debugging."""
    kind = event["kind"]
    if kind == "log":
        log.log(LEVELS[event["level"]], "%s [%s]", event["message"], event["id"])
    elif kind in PROBLEMS or (kind == "finished" and event["outcome"] == "failed"):
        log.warning("%s: %s", kind, {name: value for name, value in event.items() if name != "kind"})
    elif kind == "callRepeated":
        log.info("No answer to %s, which is repeated: %s", event["call"], event["error"])
    else:
        log.debug("%s", event)

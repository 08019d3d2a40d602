"""The job as its handler gets it: the facts of one attempt, and its actions.

Handlers run in threads, so each action checks and copies its argument in the caller's thread, and hands the rest to
the worker's event loop. A mistake is raised where it was made.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, NoReturn, Optional

from .attempts import Attempt
from .errors import Snooze
from .limits import (
    CONTINUED_MAX,
    ENQUEUE_MAX_BYTES,
    LOG_DATA_MAX_BYTES,
    LOG_MESSAGE_MAX_BYTES,
    OUTPUT_MAX_BYTES,
    PROGRESS_MAX_BYTES,
    UNHEARD_MAX,
)
from .values import cut, sendable, size_of

LEVELS = ("debug", "info", "warn", "error")
#: Does something of an attempt in the worker's event loop.
Tell = Callable[[str, Any], None]


class Job:
    """One attempt of one job: the argument of its handler. Its actions may be called from any thread."""

    def __init__(self, attempt: Attempt, loop: asyncio.AbstractEventLoop, tell: Tell) -> None:
        facts = attempt.facts
        self._attempt = attempt
        self._loop = loop
        self._tell = tell
        self._lock = threading.Lock()
        self._written = 0
        self._room = threading.Semaphore(UNHEARD_MAX)
        self.id: str = facts["id"]
        self.queue: str = facts["queue"]
        self.payload: Any = facts["payload"]
        #: 1 for the first time, one more at every claim, by any worker.
        self.attempt: int = facts["attempt"]
        #: How often a handler failed before, and how often a worker was lost with the job.
        self.failures: int = facts["failures"]
        self.resets: int = facts["resets"]
        #: Seconds since 1970, by the deployment's clock.
        self.enqueued_at: float = facts["enqueuedAt"] / 1_000
        self.rounds: int = facts.get("rounds", 0)
        #: The same for all attempts: give it to services that do a thing once for each key.
        self.idempotency_key: str = self.id if "rounds" not in facts else f"{self.id}:{self.rounds}"
        #: How long this attempt may run, in seconds. Then it is told to stop, and counts as failed.
        self.timeout_s: Optional[float] = facts["timeoutMs"] / 1_000 if "timeoutMs" in facts else None
        self.name: Optional[str] = facts.get("name")
        self.priority: int = facts.get("priority", 0)
        self.group: Optional[str] = facts.get("group")
        self.tags: list[str] = facts.get("tags", [])
        self.labels: list[str] = facts.get("labels", [])
        self.cost: int = facts.get("cost", 1)
        #: The trace of which the job is a part, as the W3C header ``traceparent`` has it: the parent of the handler's spans.
        self.traceparent: Optional[str] = facts.get("traceparent")
        #: When a job of a trace last became claimable, in seconds since 1970, by the deployment's clock.
        self.claimable_at: Optional[float] = facts["claimableAt"] / 1_000 if "claimableAt" in facts else None
        #: The result of the queue's `related` query, read in the transaction that claimed the job.
        self.related: Any = facts.get("related")

    @property
    def cancel_event(self) -> threading.Event:
        """Set when the handler is to stop: ``job.cancel_event.wait(1)`` in the place of ``time.sleep(1)``."""
        return self._attempt.stop

    @property
    def is_canceled(self) -> bool:
        """Whether the handler is to stop. Cheap: check it in loops."""
        return self._attempt.stop.is_set()

    @property
    def cancel_reason(self) -> Optional[str]:
        """``canceled``, ``timedOut``, ``leaseLost``, ``expired`` or ``stopping``; None while it may go on."""
        return self._attempt.reason

    def progress(self, value: Any) -> None:
        """Shows how far the job is: a value of up to 8 KiB. The latest wins; sent every 250 ms at most.

        Raises ``ValueError`` for a value that is too large, or none of Convex's.
        """
        self._say("progress", sendable("A progress value", value, PROGRESS_MAX_BYTES))

    def log(self, message: str, level: str = "info", data: Any = None) -> None:
        """Adds an entry to the job's log: recorded before the job's outcome is, up to 1,000 per job.

        A message of over 4 KiB is cut. ``level`` is debug, info, warn or error; ``data`` has up to 8 KiB. Raises
        ``ValueError`` for another level, and for data that is too large or no value of Convex.
        """
        if level not in LEVELS:
            raise ValueError(f"The level of a log entry must be one of {', '.join(LEVELS)}; got {level!r}.")
        entry = {"level": level, "message": cut(str(message), LOG_MESSAGE_MAX_BYTES)}
        if data is not None:
            entry["data"] = sendable("The data of a log entry", data, LOG_DATA_MAX_BYTES)
        self._say("log", entry)

    def write(self, text: str) -> None:
        """Writes to the job's output, which pages see grow. All of it is recorded before the job's outcome is.

        Raises ``ValueError`` for text with which the attempt would have written more than 16 MiB.
        """
        clean = text.encode("utf-8", "replace").decode("utf-8")
        with self._lock:
            written = self._written + len(clean.encode("utf-8"))
            if written > OUTPUT_MAX_BYTES:
                raise ValueError(f"The output of an attempt has at most {OUTPUT_MAX_BYTES} bytes.")
            self._written = written
        if clean:
            self._say("write", clean)

    def continue_with(self, queue: str, payload: Any, **options: Any) -> None:
        """Enqueues another job with this one's result, in the same transaction; nothing if the attempt fails.

        ``options`` are the options of ``enqueue`` by their own names: ``priority=5``, ``runAfter=60_000``. The app lists the
        queue in ``workerApi({ continueWith: [...] })``. A payload that does not fit that queue fails this job.
        """
        if not isinstance(queue, str):
            raise ValueError(f"The queue of a job that follows must be its name, a str; got {queue!r}.")
        name = sendable("The name of a queue", queue)
        one = {"queue": name, "payload": sendable(f"The payload for the queue {queue!r}", payload)}
        if options:
            one["options"] = sendable("The options of a job that follows", options)
        with self._lock:
            if len(self._attempt.continued) >= CONTINUED_MAX:
                raise ValueError(f"A job may be followed by {CONTINUED_MAX} jobs. Let one of them enqueue the rest.")
            size = sum(size_of(each) for each in [*self._attempt.continued, one])
            if size > ENQUEUE_MAX_BYTES:
                raise ValueError(
                    f"The jobs that follow another may have {ENQUEUE_MAX_BYTES} bytes together; these have {size}. "
                    "Let one of them enqueue the rest, or put large values into file storage."
                )
            self._attempt.continued.append(one)

    def snooze(self, seconds: float) -> NoReturn:
        """Gives the job back for so many seconds, without a failure. It raises: do not catch its error.

        ``seconds`` is from 0 to four years. Another number is a ConveyorError ``invalidArgument``.
        """
        raise Snooze(seconds)

    def _say(self, kind: str, value: Any) -> None:
        """Waits where the worker is far behind: reports without a pause would hold up its beats."""
        try:
            while not self._loop.is_closed():
                if self._room.acquire(timeout=1):
                    self._loop.call_soon_threadsafe(self._hear, kind, value)
                    return
        except RuntimeError:
            pass  # The worker has ended, and this handler goes on after its signal.

    def _hear(self, kind: str, value: Any) -> None:
        self._room.release()
        self._tell(kind, value)

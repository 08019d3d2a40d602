"""Errors that a handler raises for an outcome of its own, and errors of calls."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .limits import WAIT_MAX_S


class NoRetry(Exception):
    """Fails the job for good, also where its queue allows retries.

    Example: ``raise NoRetry("There is no such scene.")``
    """


class RetryAfter(Exception):
    """Fails the attempt; the next one, if the queue's retries allow it, begins after so many seconds.

    ``seconds`` is from 0 to four years. Raises ConveyorError ``invalidArgument`` for another number.

    Example: ``raise RetryAfter(30, "The service is busy.")``
    """

    def __init__(self, seconds: float, message: str = "The handler asks for a later retry.") -> None:
        super().__init__(message)
        self.seconds = checked_wait("RetryAfter", seconds)


class Snooze(Exception):
    """Gives the job back for so many seconds, without a failure. Raised by ``job.snooze``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The handler gives the job back for {seconds} s.")
        self.seconds = checked_wait("snooze", seconds)


def checked_wait(argument: str, seconds: Any) -> float:
    """The seconds as a float, or the error of the handler: a number that no call can carry would end no attempt."""
    try:
        number = float(seconds)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0 <= number <= WAIT_MAX_S:
        raise ConveyorError(
            "invalidArgument",
            f"The time of `{argument}` must be from 0 to {WAIT_MAX_S} seconds; got {seconds!r}. "
            "Give a finite number of seconds; for a job that is never to run again, raise `NoRetry`.",
            {"argument": argument, "got": repr(seconds)},
        )
    return number


class ConveyorError(Exception):
    """An error of the deployment or of the worker's options: a code for programs, a sentence for people.

    ``docs/reference/errors.md`` has the codes: ``tokenRevoked``, ``unknownQueue`` and so on.
    """

    def __init__(self, code: str, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = dict(data or {})


class Rejected(Exception):
    """A call that certainly did not take effect, with an error that has no code."""


class Unanswered(Exception):
    """A call that may or may not have taken effect: no connection, no answer in time, or a server's trouble."""


#: The token is worth nothing, or the worker is made wrongly: it stops at once.
FATAL = frozenset(
    ["tokenUnknown", "tokenRevoked", "tokenForeign", "sessionForbidden", "staleCall", "workerApiMissing"]
)
#: A queue or group that the worker may not serve: it ends its work and stops.
UNSERVED = frozenset(["unknownQueue", "queueForbidden", "groupForbidden"])


def kind_of(error: BaseException, ever_answered: bool) -> str:
    """The meaning of a failed call: ``unanswered``, ``rejected``, ``fatal`` or ``unserved``."""
    if isinstance(error, Unanswered):
        return "unanswered"
    if isinstance(error, ConveyorError):
        if error.code in FATAL:
            return "fatal"
        if error.code in UNSERVED:
            return "unserved"
    # Once it has worked, a missing function is a deploy on its way.
    if is_function_missing(error) and not ever_answered:
        return "fatal"
    return "rejected"


def is_function_missing(error: BaseException) -> bool:
    return isinstance(error, Rejected) and "Could not find" in str(error) and "function" in str(error)


def function_missing(error: BaseException) -> ConveyorError:
    return ConveyorError(
        "workerApiMissing",
        f"The deployment has no worker functions under this name ({error}). Export "
        "`export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [...] })` "
        "from a module of the app, deploy it, and give its path as `module`.",
    )

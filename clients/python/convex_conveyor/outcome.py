"""A handler's end as an outcome: any return value and any exception becomes one. Pure."""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import dataclass
from typing import Any, Optional

from .attempts import Attempt
from .errors import NoRetry, RetryAfter, Snooze
from .limits import ERROR_MAX_BYTES, FOLLOWING_BYTES, TRACE_MAX_BYTES
from .values import cut, sendable, size_of

Outcome = dict[str, Any]


@dataclass
class HandlerEnd:
    outcome: Outcome
    #: Why the result that it returned is none.
    refused: Optional[str] = None
    #: It returned None: after a signal to stop that is no success.
    is_silent: bool = False


def end_of_value(value: Any) -> HandlerEnd:
    """A value that cannot be sent fails the job here: the deployment could not even read it."""
    try:
        result = sendable("The handler's result", value)
    except ValueError as error:
        why = cut(str(error), ERROR_MAX_BYTES)
        return HandlerEnd({"kind": "failed", "error": why}, refused=why)
    return HandlerEnd({"kind": "succeeded", "result": result}, is_silent=value is None)


def end_of_error(error: BaseException) -> HandlerEnd:
    """Raises nothing: an error that cannot be read, or asks for the impossible, is a plain failure."""
    try:
        return asked_end(error)
    except Exception as unreadable:
        why = f"{type(error).__name__}: it cannot be read ({type(unreadable).__name__})"
        return HandlerEnd({"kind": "failed", "error": cut(why, ERROR_MAX_BYTES)})


def asked_end(error: BaseException) -> HandlerEnd:
    """The end that the error asks for."""
    if isinstance(error, asyncio.CancelledError):
        return HandlerEnd({"kind": "failed", "error": "The handler was cancelled."}, is_silent=True)
    if isinstance(error, Snooze):
        return HandlerEnd({"kind": "snoozed", "runAfter": round(error.seconds * 1_000)})
    outcome: Outcome = {"kind": "failed", "error": cut(message_of(error), ERROR_MAX_BYTES)}
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    # The last lines have the cause.
    outcome["trace"] = cut(trace, TRACE_MAX_BYTES, keep_end=True)
    if isinstance(error, NoRetry):
        outcome["retryable"] = False
    if isinstance(error, RetryAfter):
        outcome["retryAfterMs"] = round(error.seconds * 1_000)
    return HandlerEnd(outcome)


def message_of(error: BaseException) -> str:
    """The message, behind its class: that of a KeyError is a key and says nothing by itself."""
    try:
        text = str(error)
    except Exception:
        text = "its message cannot be read"
    if isinstance(error, (NoRetry, RetryAfter)) and text:
        return text
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def outcome_of_stopped(attempt: Attempt, end: HandlerEnd) -> Outcome:
    """The outcome of a handler that may have had a signal to stop.

    A result is still worth reporting: the deployment decides whether it comes too late. Any other end counts as the
    signal's reason.
    """
    reason, outcome = attempt.reason, end.outcome
    if reason is None or (outcome["kind"] == "succeeded" and not end.is_silent):
        return outcome
    if reason == "canceled":
        return {"kind": "canceled"}
    if reason == "timedOut":
        return too_long(attempt)
    # It has not failed: its lease ran out here. Should that still stand at the deployment, the job goes back.
    if reason == "expired" and (outcome["kind"] == "failed" or end.is_silent):
        return {"kind": "released"}
    return outcome


def outcome_of_abandoned(attempt: Attempt) -> Outcome:
    """The outcome of a handler that does not stop: its lease may still stand."""
    if attempt.reason == "canceled":
        return {"kind": "canceled"}
    return too_long(attempt) if attempt.reason == "timedOut" else {"kind": "released"}


def too_long(attempt: Attempt) -> Outcome:
    error = f"The attempt ran longer than its timeoutMs, {attempt.facts['timeoutMs']} ms."
    return {"kind": "failed", "error": error, "timedOut": True}


def bytes_of(outcome: Outcome, continued: list[Any]) -> int:
    """Bytes of an outcome in a call, with the jobs that follow it."""
    following = sum(size_of(one) + FOLLOWING_BYTES for one in continued)
    if outcome["kind"] == "succeeded":
        return following + size_of(outcome["result"])
    return following + len(outcome.get("error", "")) + len(outcome.get("trace", ""))

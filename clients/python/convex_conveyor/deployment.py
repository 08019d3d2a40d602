"""A worker's calls, as calls of the app's five functions: claim, complete, heartbeat, report, watch."""

from __future__ import annotations

import asyncio
import concurrent.futures
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Protocol

from .errors import ConveyorError, Rejected, Unanswered
from .limits import BEAT_TIMEOUT_S, CALL_TIMEOUT_S, LINE_BYTES_PER_S, TENDS_MAX
from .values import size_of

Json = dict[str, Any]


class Wire(Protocol):
    """The carrier of calls, in threads: `Http`, or a test's own."""

    def call(self, kind: str, path: str, args: Json, timeout_s: float) -> Any: ...


class Starter(Protocol):
    """Runs a function beside the event loop."""

    def submit(self, run: Callable[[], Any]) -> "concurrent.futures.Future[Any]": ...


@dataclass(frozen=True)
class Offer:
    """The jobs that a worker asks for, the same in every claim."""

    queues: list[str]
    labels: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def args(self) -> Json:
        return {
            "queues": self.queues,
            **({"labels": self.labels} if self.labels else {}),
            **({"groups": self.groups} if self.groups else {}),
        }


@dataclass
class Deployment:
    """The calls of one session. They raise `Unanswered`, `Rejected` or `ConveyorError`."""

    wire: Wire
    threads: Starter
    module: str
    token: str
    session_key: str
    name: str
    offer: Offer
    max_cost: Optional[int] = None
    #: The session's id, as claims are answered: reports name it, so that they need not search for it.
    session: Optional[Json] = None
    _tending: Optional["asyncio.Task[None]"] = None

    async def hello(self) -> Json:
        return await self._watch({"kind": "hello", "queues": self.offer.queues})

    async def has_work(self, named: bool = False) -> bool:
        budget = {} if self.max_cost is None else {"maxCost": self.max_cost}
        name = {"worker": self.name} if named else {}
        return bool(await self._watch({"kind": "hasWork", **self.offer.args(), **budget, **name}))

    async def cancellations(self) -> list[Json]:
        return await self._watch({"kind": "cancellations", "sessionKey": self.session_key})

    async def claim(self, call_seq: int, claim: Json) -> Json:
        args = {"name": self.name, "callSeq": call_seq, **self.offer.args(), **claim}
        return self._noted(await self._call("mutation", "claim", args))

    async def complete(self, call_seq: int, finished: list[Json], options: Json) -> Json:
        claim = options.get("claim")
        asked = {} if claim is None else {"claim": {**self.offer.args(), **claim}}
        args = {"callSeq": call_seq, "finished": finished, **options, **asked}
        return self._noted(await self._call("mutation", "complete", args))

    async def complete_later(self, finished: Json) -> None:
        await self._call("mutation", "complete", {"finished": [finished], "later": True})

    async def heartbeat(self, leases: list[Json], leaving: Optional[int] = None) -> list[Json]:
        last = {} if leaving is None else {"leaving": leaving}
        answer = await self._call("mutation", "heartbeat", {"leases": leases, **last}, BEAT_TIMEOUT_S)
        return self._noted(answer)["answers"]

    async def report(self, reported: Json) -> list[Json]:
        return (await self._call("mutation", "report", {**(self.session or {}), **reported}))["answers"]

    def _noted(self, reply: Json) -> Json:
        if "session" in reply:
            self.session = {"session": reply["session"]}
        if reply.get("isLate") and self._tending is None:
            self._tending = asyncio.ensure_future(self._tend())
        return reply

    async def _tend(self) -> None:
        """Does late work of the deployment, beside the worker's calls. A reply says so again if this fails."""
        call = {"leases": [], "tend": self.offer.queues}
        try:
            for _ in range(TENDS_MAX):
                if not (await self._call("mutation", "heartbeat", call, BEAT_TIMEOUT_S)).get("isLate"):
                    break
        except (Unanswered, Rejected, ConveyorError):
            pass  # A conflicting call has done it, or does it.
        finally:
            self._tending = None

    async def _watch(self, call: Json) -> Any:
        return await self._send("query", "watch", {"token": self.token, "call": call}, CALL_TIMEOUT_S)

    async def _call(self, kind: str, name: str, args: Json, timeout_s: float = CALL_TIMEOUT_S) -> Any:
        return await self._send(kind, name, {"token": self.token, "sessionKey": self.session_key, **args}, timeout_s)

    async def _send(self, kind: str, name: str, args: Json, timeout_s: float) -> Any:
        path = f"{self.module}:{name}"
        timeout_s += size_of(args) / LINE_BYTES_PER_S
        call = self.threads.submit(lambda: self.wire.call(kind, path, args, timeout_s))
        try:
            # The carrier bounds each of its steps; a host of several addresses, none of which answers, has many.
            return await asyncio.wait_for(asyncio.wrap_future(call), timeout_s)
        except asyncio.TimeoutError:
            raise Unanswered(f"No answer within {timeout_s} s.") from None

"""A deployment in memory, and an event loop in which time jumps to the next event: hours pass in milliseconds."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Coroutine, Optional

from convex_conveyor.errors import ConveyorError, Unanswered
from convex_conveyor.loop import Loop, LoopOptions
from convex_conveyor.outcome import HandlerEnd, end_of_error, end_of_value

Json = dict[str, Any]


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._instant = 0.0
        select = self._selector.select

        def jump(timeout: Optional[float]) -> Any:
            if timeout is None:
                raise RuntimeError("Nothing is left to happen.")
            # Each turn takes a moment: asyncio lets timers ring that much early, and a wait for the rest would ring for ever.
            self._instant += max(self._clock_resolution, timeout)
            return select(0)

        self._selector.select = jump

    def time(self) -> float:
        return self._instant


def virtually(main: Coroutine[Any, Any, Any]) -> Any:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        while tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()


class FakeDeployment:
    """Leases jobs, keeps the session's last reply for a repeat, and fails as a test asks."""

    def __init__(self, lease_ms: int = 6_000, max_cost: Optional[int] = None) -> None:
        self.lease_ms = lease_ms
        self.max_cost = max_cost
        self.pending: list[Json] = []
        self.leases: dict[tuple[str, int], float] = {}
        self.cancels: set[str] = set()
        self.recorded: list[Json] = []
        self.said: list[Json] = []
        #: Every call as it came: its name, its instant, and its arguments.
        self.calls: list[tuple[str, float, Any]] = []
        #: By call: errors to raise, the next first. A pair ("after", error) takes effect, and loses its reply.
        self.troubles: dict[str, list[Any]] = {}
        self.greeting: Json = {"protocol": 1, "version": "0.1.0"}
        self.left: Optional[int] = None
        #: Jobs that wait and prefer a worker of another name.
        self.others = 0
        self._n = 0
        self._reply: Json = {}

    def add(self, id: str, payload: Any = None, **facts: Any) -> None:
        self.pending.append({"id": id, "queue": "q", "payload": payload, "attempt": 0, **facts})

    def times(self, name: str) -> list[float]:
        return [at for call, at, _ in self.calls if call == name]

    def made(self, name: str) -> list[Any]:
        return [args for call, _, args in self.calls if call == name]

    async def hello(self) -> Json:
        return await self._serve("hello", None, lambda: self.greeting)

    async def has_work(self, named: bool = False) -> bool:
        return await self._serve("hasWork", named, lambda: bool(self.pending) or (self.others > 0 and not named))

    async def cancellations(self) -> list[Json]:
        asked = [{"id": id, "attempt": attempt} for id, attempt in self.leases if id in self.cancels]
        return await self._serve("cancellations", None, lambda: asked)

    async def claim(self, n: int, claim: Json) -> Json:
        return await self._serve("claim", {"callSeq": n, **claim}, lambda: self._numbered(n, lambda: self._take(claim)))

    async def complete(self, n: int, finished: list[Json], options: Json) -> Json:
        def once() -> Json:
            answers = [self._record(one) for one in finished]
            claimed = self._take(options["claim"]) if "claim" in options else {"jobs": []}
            held = {"held": self._beat(options["held"])} if "held" in options else {}
            return {"answers": answers, **claimed, **held}

        args = {"callSeq": n, "finished": finished, **options}
        return await self._serve("complete", args, lambda: self._numbered(n, once))

    async def complete_later(self, finished: Json) -> None:
        await self._serve("completeLater", finished, lambda: None)

    async def heartbeat(self, leases: list[Json], leaving: Optional[int] = None) -> list[Json]:
        def beat() -> list[Json]:
            if leaving is not None:
                assert leaving > self._n, "a goodbye comes after all calls"
                self.left = leaving
            return self._beat(leases)

        return await self._serve("heartbeat", leases, beat)

    async def report(self, said: Json) -> list[Json]:
        def record() -> list[Json]:
            self.said.append(said)
            answers: dict[tuple[str, int], Json] = {}
            for one in said["updates"] + said["logs"] + said["output"]:
                key = (one["id"], one["attempt"])
                answers.setdefault(key, {"id": key[0], "attempt": key[1], "answer": self._standing(key)})
                if "index" in one:
                    answers[key]["nextIndex"] = one["index"] + 1
            return list(answers.values())

        return await self._serve("report", said, record)

    async def _serve(self, name: str, args: Any, act: Callable[[], Any]) -> Any:
        self.calls.append((name, asyncio.get_running_loop().time(), args))
        await asyncio.sleep(0.01)
        troubles = self.troubles.get(name, [])
        trouble = troubles.pop(0) if troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        result = act()
        await asyncio.sleep(0.01)
        if trouble is not None:
            raise trouble[1]
        return result

    def _numbered(self, n: int, act: Callable[[], Json]) -> Json:
        if n < self._n:
            raise ConveyorError("staleCall", f"call {n} after {self._n}")
        if n > self._n:
            self._n, self._reply = n, act()
        return self._reply

    def _take(self, claim: Json) -> Json:
        jobs, budget = [], claim.get("maxCost", float("inf"))
        for job in list(self.pending):
            if len(jobs) == claim["max"] or job.get("cost", 1) > budget:
                break
            budget -= job.get("cost", 1)
            self.pending.remove(job)
            job["attempt"] += 1
            self.leases[(job["id"], job["attempt"])] = self._now() + self.lease_ms / 1_000
            fields = {"failures": 0, "resets": 0, "leaseMs": self.lease_ms, "enqueuedAt": 1}
            jobs.append({**fields, **job})
        return {"jobs": jobs, "cursor": "{}"}

    def _record(self, one: Json) -> Json:
        key = (one["id"], one["attempt"])
        answer = self._standing(key)
        if answer == "canceled":
            answer = "ok"
        if answer == "ok":
            self.recorded.append(one)
            del self.leases[key]
        elif any(one["id"] == done["id"] and one["attempt"] == done["attempt"] for done in self.recorded):
            answer = "recorded"
        return {"id": key[0], "attempt": key[1], "answer": answer}

    def _beat(self, named: list[Json]) -> list[Json]:
        for key in list(self.leases):
            if self._standing(key) != "leaseLost":
                self.leases[key] = self._now() + self.lease_ms / 1_000
        return [{**one, "answer": self._standing((one["id"], one["attempt"]))} for one in named]

    def _standing(self, key: tuple[str, int]) -> str:
        if self.leases.get(key, -1.0) < self._now():
            return "leaseLost"
        return "canceled" if key[0] in self.cancels else "ok"

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class InLoop:
    """Runs async handlers in the test's own event loop, so that its time is theirs."""

    async def run(self, handler: Any, job: Any, attempt: Any) -> HandlerEnd:
        task = asyncio.ensure_future(handler(job))
        attempt.cancel_task = task.cancel
        try:
            return end_of_value(await task)
        except BaseException as error:
            return end_of_error(error)


class Run:
    """A worker's loop on a deployment, with the events that it tells."""

    def __init__(self, deployment: FakeDeployment, handler: Any, concurrency: int = 1, **options: Any) -> None:
        self.events: list[Json] = []
        times = {"poll_min_s": 0.25, "poll_max_s": 5.0, "presence_s": 60.0, "grace_s": 8.0, **options}
        self.loop = Loop(
            LoopOptions(
                deployment=deployment,
                handlers={"q": handler},
                runs=InLoop(),
                emit=self.events.append,
                concurrency=concurrency,
                **times,
            )
        )
        self.task = asyncio.ensure_future(self.loop.run())

    def kinds(self, kind: str) -> list[Json]:
        return [one for one in self.events if one["kind"] == kind]

    async def stop(self, grace_s: Optional[float] = None) -> None:
        self.loop.stop(grace_s)
        await self.task


def lost_reply() -> Any:
    return ("after", Unanswered("The reply was lost."))

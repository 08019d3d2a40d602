"""The worker's options, its threads, and its calls over real HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import multiprocessing
import os
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from unittest import mock

from convex_conveyor import ConveyorError, Int64, Job, NoRetry, RetryAfter, Worker
from convex_conveyor.attempts import Attempt
from convex_conveyor.deployment import Deployment, Offer
from convex_conveyor.errors import Rejected, Unanswered
from convex_conveyor.handlers import Handlers
from convex_conveyor.http import Http
from convex_conveyor.limits import OUTPUT_PART_MAX_BYTES, REPORT_MAX_BYTES, UNHEARD_MAX
from convex_conveyor.outcome import HandlerEnd
from convex_conveyor.threads import HandlerLoop, Threads
from convex_conveyor.unsent import Budget, UnsentReports

GOOD = {"url": "http://127.0.0.1:1", "token": "cvy_x", "queues": ["q"], "handler": lambda job: None, "module": "work"}


class Options(unittest.TestCase):
    def test_wrong_options_are_refused_with_the_rule(self) -> None:
        for wrong in (
            {"url": ""},
            {"url": "https://happy.convex.site"},
            {"token": ""},
            {"queues": []},
            {"queues": "q"},
            {"labels": "gpu"},
            {"groups": "user-1"},
            {"concurrency": 65},
            {"concurrency": 2.5},
            {"concurrency": True},
            {"concurrency": "2"},
            {"max_cost": 1.5},
            {"poll_min_s": 9, "poll_max_s": 5},
            {"handler": {"other": print}},
            {"name": "x" * 65},
        ):
            with self.assertRaises(ConveyorError, msg=str(wrong)):
                Worker(**{**GOOD, **wrong})  # type: ignore[arg-type]

    def test_a_worker_that_is_stopped_before_it_runs_never_begins(self) -> None:
        worker = Worker(**GOOD)  # type: ignore[arg-type]
        worker.stop()
        worker.run()
        with self.assertRaises(ConveyorError):
            worker.run()


    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_each_process_that_runs_a_copy_of_a_worker_has_a_session_of_its_own(self) -> None:
        told = multiprocessing.get_context("fork").SimpleQueue()

        def tell(event: Any) -> None:
            if event["kind"] == "started":
                told.put(event["sessionKey"])
                worker.stop(0)

        worker = Worker(**{**GOOD, "on_event": tell})  # type: ignore[arg-type]
        copies = [multiprocessing.get_context("fork").Process(target=worker.run) for _ in range(2)]
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.join(10)
        self.assertEqual(len({told.get(), told.get(), worker.session_key}), 3)


def attempt_of(payload: Any = None) -> Attempt:
    facts = {"id": "a", "queue": "q", "payload": payload, "attempt": 1, "failures": 0, "resets": 0, "leaseMs": 1, "enqueuedAt": 1}
    return Attempt(facts, started_at=0, expires_at=1)


class Places(unittest.TestCase):
    """Handlers in threads and in the event loop of handlers."""

    def end_of(self, handler: Any, during: Callable[[Attempt], None] = lambda _: None) -> HandlerEnd:
        async def main() -> HandlerEnd:
            attempt = attempt_of(5)
            job = Job(attempt, asyncio.get_running_loop(), lambda kind, value: None)
            end = asyncio.ensure_future(Handlers(Threads("test"), HandlerLoop()).run(handler, job, attempt))
            await asyncio.sleep(0.05)
            during(attempt)
            return await end

        return asyncio.run(main())

    def setUp(self) -> None:
        self.begun = threading.Event()

    def signal(self, attempt: Attempt) -> None:
        self.assertTrue(self.begun.wait(5))
        attempt.reason = "canceled"
        attempt.stop.set()
        attempt.cancel_task()

    def test_a_function_runs_in_a_thread_and_waits_for_its_event(self) -> None:
        def handler(job: Job) -> str:
            assert threading.current_thread() is not threading.main_thread()
            self.begun.set()
            return f"{job.payload} {job.cancel_event.wait(5)}"

        self.assertEqual(self.end_of(handler, self.signal).outcome, {"kind": "succeeded", "result": "5 True"})

    def test_an_async_function_is_cancelled_and_may_still_return_a_result(self) -> None:
        async def ends(job: Job) -> None:
            self.begun.set()
            await asyncio.sleep(5)

        async def returns(job: Job) -> str:
            try:
                self.begun.set()
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                return "cleaned up"
            return "late"

        self.assertTrue(self.end_of(ends, self.signal).is_silent)
        self.begun.clear()
        self.assertEqual(self.end_of(returns, self.signal).outcome["result"], "cleaned up")

    def test_errors_of_both_are_outcomes_also_an_exit(self) -> None:
        def exits(job: Job) -> None:
            raise SystemExit(3)

        async def fails(job: Job) -> None:
            raise NoRetry("no")

        self.assertEqual(self.end_of(exits).outcome["error"], "SystemExit: 3")
        self.assertIs(self.end_of(fails).outcome["retryable"], False)

    def test_output_that_is_refused_takes_no_room(self) -> None:
        def handler(job: Job) -> None:
            try:
                job.write("x" * (16 * 2**20 + 1))
            except ValueError:
                job.write("too long")

        self.assertEqual(self.end_of(handler).outcome, {"kind": "succeeded", "result": None})

    def test_a_stop_iteration_of_a_function_ends_it(self) -> None:
        self.assertIn("StopIteration", self.end_of(lambda job: next(iter([]))).outcome["error"])

    def test_an_exit_of_an_async_function_ends_it_and_no_other(self) -> None:
        async def main() -> list[HandlerEnd]:
            handlers, begun = Handlers(Threads("test"), HandlerLoop()), asyncio.get_running_loop()

            async def leave() -> None:
                await asyncio.sleep(0.01)
                raise SystemExit(3)

            async def exits(job: Job) -> None:
                await asyncio.ensure_future(leave())

            async def goes_on(job: Job) -> str:
                await asyncio.sleep(0.05)
                return "done"

            ends = []
            for handler in (exits, goes_on):
                attempt = attempt_of()
                ends.append(handlers.run(handler, Job(attempt, begun, lambda kind, value: None), attempt))
            return await asyncio.wait_for(asyncio.gather(*ends), 2)

        exited, done = asyncio.run(main())
        self.assertEqual(exited.outcome["error"], "SystemExit: 3")
        self.assertEqual(done.outcome, {"kind": "succeeded", "result": "done"})

    def test_a_result_is_checked_and_copied_beside_the_worker_s_loop(self) -> None:
        threads: set[str] = set()

        class Large(dict):  # type: ignore[type-arg]
            def items(self) -> Any:
                threads.add(threading.current_thread().name)
                return super().items()

        async def returns(job: Job) -> Any:
            return Large(a=1)

        for handler in (returns, lambda job: Large(a=1)):
            self.assertEqual(self.end_of(handler).outcome["result"], {"a": 1})
        self.assertEqual(threads, {"conveyor-async", "test"})

    def test_an_error_that_cannot_be_read_is_a_plain_failure(self) -> None:
        class Incomplete(RetryAfter):
            def __init__(self) -> None:
                pass  # It leaves `seconds` out.

        def fails(job: Job) -> None:
            raise Incomplete

        self.assertEqual(self.end_of(fails).outcome["kind"], "failed")

    def test_a_wait_out_of_bounds_is_refused_where_it_is_made(self) -> None:
        for wrong in (float("inf"), float("nan"), -1, 1e300, "soon", None):
            with self.assertRaises(ConveyorError, msg=str(wrong)) as raised:
                RetryAfter(wrong)  # type: ignore[arg-type]
            self.assertEqual(raised.exception.code, "invalidArgument")
        self.assertEqual(RetryAfter(30).seconds, 30.0)

    def test_threads_are_kept_for_the_next_task(self) -> None:
        threads = Threads("test")
        first = threads.submit(threading.get_ident).result(5)
        self.assertEqual(threads.submit(threading.get_ident).result(5), first)


class Talkative(unittest.TestCase):
    """Reports without a pause: the worker's loop has its beats to send beside them."""

    def test_text_that_waits_is_shorter_than_a_part_however_much_is_written(self) -> None:
        unsent, line = UnsentReports({"id": "a", "attempt": 1}), "é" * 49 + "\n"
        longest = 0
        for _ in range(5_000):
            unsent.write(line)
            longest = max(longest, len(unsent.text))
        self.assertLess(longest, OUTPUT_PART_MAX_BYTES)
        texts = [part["text"] for part in unsent.take(Budget(256, REPORT_MAX_BYTES)).output]
        self.assertEqual("".join(texts), line * 5_000)
        self.assertEqual(len(texts), math.ceil(len((line * 5_000).encode()) / OUTPUT_PART_MAX_BYTES))

    def test_a_call_with_progress_is_no_larger_than_the_deployment_takes(self) -> None:
        unsent, room = UnsentReports({"id": "a", "attempt": 1}), Budget(256, REPORT_MAX_BYTES)
        # Parts of calls that had no answer: as many as fill a call to a few bytes.
        for _ in range(128):
            unsent.write("x" * (REPORT_MAX_BYTES // 128 - 2))
            unsent.take(Budget(0, 0))
        unsent.show("x" * 8_000)
        taken = unsent.take(room)
        texts = [one["value"] for one in taken.updates] + [part["text"] for part in taken.output]
        self.assertEqual(len(taken.updates), 1)
        self.assertLessEqual(sum(len(text) for text in texts), REPORT_MAX_BYTES)

    def test_a_handler_waits_for_a_worker_that_is_far_behind(self) -> None:
        class Behind:
            waiting: list[Callable[[], None]] = []
            closed = False

            def call_soon_threadsafe(self, run: Any, *args: Any) -> None:
                self.waiting.append(lambda: run(*args))

            def is_closed(self) -> bool:
                return self.closed

        def writes() -> None:
            for _ in range(2 * UNHEARD_MAX):
                job.write("x")

        heard: list[str] = []
        loop = Behind()
        job = Job(attempt_of(), loop, lambda kind, value: heard.append(value))  # type: ignore[arg-type]
        for wakes in (True, False):
            handler = threading.Thread(target=writes, daemon=True)
            handler.start()
            handler.join(0.1)
            self.assertTrue(handler.is_alive())
            self.assertEqual(len(loop.waiting), UNHEARD_MAX)
            # The worker goes on, or has ended.
            loop.closed = not wakes
            while handler.is_alive():
                if wakes and loop.waiting:
                    loop.waiting.pop(0)()
                handler.join(0.001)
            while loop.waiting:
                loop.waiting.pop(0)()
        self.assertEqual(len(heard), 3 * UNHEARD_MAX)


class Tending(unittest.TestCase):
    def run_calls(self, answers: list[Any]) -> list[Any]:
        """The arguments of the calls that follow one claim; its reply says that work is late."""
        made: list[Any] = []

        class Wire:
            def call(self, kind: str, path: str, args: Any, timeout_s: float) -> Any:
                made.append((path, args.get("tend")))
                if path == "work:claim":
                    return {"jobs": [], "isLate": True}
                answer = answers.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                return {"answers": [], "isLate": answer}

        async def main() -> None:
            deployment = Deployment(Wire(), Threads("test"), "work", "t", "s", "name", Offer(["q"]))
            await deployment.claim(1, {"max": 1})
            while deployment._tending is not None:
                await asyncio.sleep(0.005)

        asyncio.run(main())
        return made

    def test_late_work_is_tended_until_an_answer_says_that_none_is_left(self) -> None:
        tend = ("work:heartbeat", ["q"])
        self.assertEqual(self.run_calls([True, False]), [("work:claim", None), tend, tend])

    def test_a_call_that_tends_and_fails_is_not_repeated(self) -> None:
        self.assertEqual(len(self.run_calls([Unanswered("timeout"), False])), 2)


class Bounds(unittest.TestCase):
    def test_a_call_that_takes_longer_than_its_time_is_unanswered_also_where_the_carrier_goes_on(self) -> None:
        over = threading.Event()

        class Wire:
            def call(self, kind: str, path: str, args: Any, timeout_s: float) -> Any:
                over.wait(5)

        async def main() -> None:
            deployment = Deployment(Wire(), Threads("test"), "work", "t", "s", "name", Offer(["q"]))
            with self.assertRaises(Unanswered):
                await asyncio.wait_for(deployment._send("query", "watch", {}, 0.05), 2)

        try:
            asyncio.run(main())
        finally:
            over.set()


class SlowLine(unittest.TestCase):
    def test_a_call_has_the_time_that_a_slow_line_takes_for_its_bytes(self) -> None:
        times: list[float] = []

        class Wire:
            def call(self, kind: str, path: str, args: dict[str, Any], timeout_s: float) -> Any:
                times.append(timeout_s)
                return {"answers": [], "jobs": []}

        async def main() -> None:
            deployment = Deployment(Wire(), Threads("test"), "workers", "t", "s", "w", Offer(["q"]))
            outcome = {"kind": "succeeded", "result": "x" * 1_000_000}
            await deployment.complete(1, [{"id": "a", "attempt": 1, "queue": "q", "outcome": outcome}], {})
            await deployment.heartbeat([])

        asyncio.run(main())
        self.assertGreater(times[0], 30 + 1_000_000 / 32_000)
        self.assertLess(times[0], 65)
        self.assertLess(times[1], 10.1)


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers: list[Callable[["Server"], None]] = []
    connections: list[int] = []

    def do_POST(self) -> None:
        self.connections.append(self.client_address[1])
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answers.pop(0)(self)

    def do_CONNECT(self) -> None:
        self.answers.pop(0)(self)

    def reply(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def drop(server: Server) -> None:
    server.close_connection = True
    server.connection.close()


class Calls(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.http = Http(f"http://127.0.0.1:{self.server.server_port}")
        Server.connections = []

    def tearDown(self) -> None:
        self.http.close()
        self.server.shutdown()
        self.server.server_close()

    def call(self, *answers: Callable[[Server], None], timeout_s: float = 5) -> Any:
        Server.answers = list(answers)
        return self.http.call("query", "work:watch", {"a": 1}, timeout_s)

    def test_values_cross_over_a_connection_that_is_kept(self) -> None:
        value = '{"status": "success", "value": {"n": {"$integer": "BQAAAAAAAAA="}, "sent": 1.0}}'
        for _ in range(3):
            self.assertEqual(self.call(lambda to: to.reply(200, value)), {"n": Int64(5), "sent": 1})
        self.assertEqual(len(set(Server.connections)), 1)

    def test_errors_with_a_code_are_told_from_errors_without_one(self) -> None:
        coded = {"status": "error", "errorMessage": "no", "errorData": {"code": "tokenRevoked", "message": "Revoked."}}
        for status in (200, 560):
            with self.assertRaises(ConveyorError) as raised:
                self.call(lambda to: to.reply(status, json.dumps(coded)))
            self.assertEqual((raised.exception.code, str(raised.exception)), ("tokenRevoked", "Revoked."))
        with self.assertRaisesRegex(Rejected, "boom"):
            self.call(lambda to: to.reply(200, '{"status": "error", "errorMessage": "boom"}'))

    def test_it_is_known_which_calls_may_have_taken_effect(self) -> None:
        for answer in (
            drop,
            lambda to: to.reply(503, "overloaded"),
            lambda to: to.reply(429, "slow down"),
            lambda to: to.reply(200, "<html>a proxy's page</html>"),
        ):
            with self.assertRaises(Unanswered):
                self.call(answer, drop)
        with self.assertRaises(Rejected):
            self.call(lambda to: to.reply(503, '{"code": "OptimisticConcurrencyControlFailure"}'))
        with self.assertRaises(Rejected):
            self.call(lambda to: to.reply(400, "bad request"))
        with self.assertRaises(Unanswered):
            self.call(lambda to: time.sleep(0.3), timeout_s=0.1)

    def test_a_kept_connection_that_the_server_has_closed_costs_a_new_one_and_no_error(self) -> None:
        good = '{"status": "success", "value": true}'
        self.call(lambda to: to.reply(200, good))
        self.assertTrue(self.call(drop, lambda to: to.reply(200, good)))

    def test_a_proxy_is_told_the_user_and_password_of_its_address(self) -> None:
        seen = []

        def refuse(to: Server) -> None:
            seen.append((to.path, to.headers["Proxy-Authorization"]))
            to.reply(407, "")

        proxy = f"http://me:p%40ss@127.0.0.1:{self.server.server_port}"
        with mock.patch.dict(os.environ, {"HTTPS_PROXY": proxy, "no_proxy": "", "NO_PROXY": ""}):
            http = Http("https://happy-animal-1.convex.cloud")
        Server.answers = [refuse]
        with self.assertRaises(Unanswered):
            http.call("query", "work:watch", {}, 5)
        word = base64.b64encode(b"me:p@ss").decode()
        self.assertEqual(seen, [("happy-animal-1.convex.cloud:443", f"Basic {word}")])


if __name__ == "__main__":
    unittest.main()

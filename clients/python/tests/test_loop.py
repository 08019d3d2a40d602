"""The worker's loop on a deployment in memory, in virtual time."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any
from unittest import mock

from convex_conveyor.attempts import Attempts
from convex_conveyor.errors import ConveyorError, NoRetry, Rejected, RetryAfter, Unanswered
from convex_conveyor.reports import Reports

from .fakes import FakeDeployment, Run, lost_reply, virtually


async def quick(job: Any) -> Any:
    await asyncio.sleep(0.1)
    return job.payload


async def waits(job: Any) -> Any:
    while not job.is_canceled:
        await asyncio.sleep(0.1)


class Claims(unittest.TestCase):
    def test_never_more_handlers_than_concurrency_run_and_each_job_is_done_once(self) -> None:
        async def main() -> None:
            deployment, now, most = FakeDeployment(), 0, 0

            async def handler(job: Any) -> int:
                nonlocal now, most
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.2)
                now -= 1
                return job.payload

            for n in range(20):
                deployment.add(f"j{n}", n)
            run = Run(deployment, handler, concurrency=3)
            await asyncio.sleep(10)
            await run.stop()
            self.assertEqual(most, 3)
            results = sorted(one["outcome"]["result"] for one in deployment.recorded)
            self.assertEqual(results, list(range(20)))

        virtually(main())

    def test_a_claim_without_a_reply_is_repeated_by_its_number_and_its_jobs_are_confirmed_by_a_beat(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.add("a")
            deployment.troubles["claim"] = [lost_reply(), Unanswered("no connection")]
            run = Run(deployment, quick)
            await asyncio.sleep(3)
            self.assertEqual([one["callSeq"] for one in deployment.made("claim")][:3], [1, 1, 1])
            self.assertEqual(deployment.made("heartbeat")[0], [{"id": "a", "attempt": 1}])
            self.assertEqual([one["id"] for one in deployment.recorded], ["a"])
            await run.stop()

        virtually(main())

    def test_a_job_of_a_repeated_claim_that_is_lost_meanwhile_is_not_begun(self) -> None:
        async def main() -> None:
            deployment, begun = FakeDeployment(), []

            async def handler(job: Any) -> None:
                begun.append(job.id)

            deployment.add("a")
            deployment.troubles["claim"] = [lost_reply()]
            run = Run(deployment, handler)
            await asyncio.sleep(0.1)
            deployment.leases.clear()
            await asyncio.sleep(3)
            self.assertEqual(begun, [])
            await run.stop()

        virtually(main())

    def test_answers_of_the_beat_that_confirms_leases_count_by_their_ids(self) -> None:
        async def main() -> None:
            deployment, begun = FakeDeployment(), []

            async def handler(job: Any) -> None:
                begun.append(job.id)

            beat = deployment.heartbeat

            async def heartbeat(leases: list[Any], leaving: Any = None) -> list[Any]:
                return (await beat(leases, leaving))[::-1]

            deployment.heartbeat = heartbeat  # type: ignore[method-assign]
            deployment.add("lost")
            deployment.add("held")
            deployment.troubles["claim"] = [lost_reply()]
            run = Run(deployment, handler, concurrency=2)
            await asyncio.sleep(0.1)
            del deployment.leases[("lost", 1)]
            await asyncio.sleep(3)
            self.assertEqual(begun, ["held"])
            await run.stop()

        virtually(main())

    def test_a_lease_that_is_over_before_its_handler_begins_goes_back(self) -> None:
        async def main() -> None:
            deployment, begun = FakeDeployment(lease_ms=1_000), []

            def handler(job: Any) -> Any:
                begun.append(job.id)
                return quick(job)

            deployment.add("a")
            # Its reply comes after all of the lease, and the beat that would confirm it is not answered.
            deployment.troubles["claim"] = [lost_reply()] + [Unanswered("no connection")] * 3
            deployment.troubles["heartbeat"] = [Unanswered("no connection")]
            run = Run(deployment, handler)
            await asyncio.sleep(20)
            self.assertEqual(begun, [])
            self.assertEqual(deployment.made("complete")[0]["finished"][0]["outcome"], {"kind": "released"})
            await run.stop()

        virtually(main())

    def test_running_jobs_leave_a_part_of_the_budget_and_with_none_left_no_claim_is_made(self) -> None:
        async def main(max_cost: int, claimed_with: set[int]) -> None:
            deployment = FakeDeployment(max_cost=max_cost)
            for n in range(3):
                deployment.add(f"j{n}", cost=6)
            run = Run(deployment, waits, concurrency=3)
            await asyncio.sleep(3)
            self.assertEqual(len(deployment.leases), 1)
            self.assertEqual({one["maxCost"] for one in deployment.made("claim")}, claimed_with)
            await run.stop(0)

        virtually(main(10, {10, 4}))
        virtually(main(6, {6}))

    def test_a_handler_gets_the_trace_of_its_job_and_none_where_it_has_none(self) -> None:
        async def main() -> None:
            trace = f"00-{'ab' * 16}-{'cd' * 8}-01"
            deployment = FakeDeployment()
            deployment.add("traced", traceparent=trace, claimableAt=1_500)
            deployment.add("plain")
            seen: dict[str, Any] = {}

            async def handler(job: Any) -> None:
                seen[job.id] = (job.traceparent, job.claimable_at)
                if job.traceparent:
                    job.continue_with("next", None, traceparent=job.traceparent)

            run = Run(deployment, handler, concurrency=2)
            await asyncio.sleep(5)
            self.assertEqual(seen, {"traced": (trace, 1.5), "plain": (None, None)})
            await run.stop()
            done = [one for call in deployment.made("complete") for one in call["finished"] if one["id"] == "traced"]
            self.assertIn(trace, str(done))

        virtually(main())

    def test_an_idle_worker_asks_ever_more_seldom_with_jitter_and_claims_when_there_is_work(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            run = Run(deployment, quick, poll_min_s=0.25, poll_max_s=5.0)
            await asyncio.sleep(120)
            asked = deployment.times("hasWork")
            waits = [later - earlier for earlier, later in zip(asked, asked[1:])]
            self.assertEqual(len(deployment.made("claim")), 1)
            self.assertLess(len(asked), 50)
            self.assertLess(waits[0], 0.7)
            self.assertTrue(all(2.5 <= one <= 5.1 for one in waits[10:]), waits)
            self.assertGreater(len({round(one, 3) for one in waits[10:]}), 5)
            deployment.add("a")
            await asyncio.sleep(6)
            self.assertEqual(len(deployment.recorded), 1)
            await run.stop()

        virtually(main())


    def test_a_worker_claims_once_for_jobs_that_prefer_another_and_asks_by_its_name_only_while_they_wait(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            run = Run(deployment, quick, poll_min_s=0.25, poll_max_s=5.0)
            await asyncio.sleep(60)
            self.assertNotIn(True, deployment.made("hasWork"))
            deployment.others = 1
            await asyncio.sleep(60)
            self.assertEqual(len(deployment.made("claim")), 2)
            asked = deployment.made("hasWork")
            self.assertGreater(asked.count(True), 10)
            self.assertTrue(all(pair != (True, True) for pair in zip(asked, asked[1:])), asked)
            deployment.add("a")
            await asyncio.sleep(6)
            self.assertEqual(len(deployment.recorded), 1)
            deployment.others = 0
            await asyncio.sleep(60)
            deployment.calls.clear()
            await asyncio.sleep(60)
            self.assertNotIn(True, deployment.made("hasWork"))
            self.assertGreater(len(deployment.made("hasWork")), 10)
            await run.stop()

        virtually(main())


class Outcomes(unittest.TestCase):
    def test_a_completion_without_a_reply_is_repeated_by_its_number_until_it_is_answered(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.add("a", 7)
            deployment.troubles["complete"] = [Unanswered("timeout"), lost_reply(), lost_reply()]
            run = Run(deployment, quick)
            await asyncio.sleep(10)
            calls = deployment.made("complete")
            self.assertEqual({one["callSeq"] for one in calls}, {2})
            self.assertEqual(len(calls), 4)
            self.assertTrue(all(one == calls[0] for one in calls))
            self.assertEqual([one["outcome"] for one in deployment.recorded], [{"kind": "succeeded", "result": 7}])
            await run.stop()
            self.assertEqual(run.kinds("stopped")[0]["unrecorded"], 0)

        virtually(main())

    def test_a_batch_that_is_refused_is_taken_apart_and_no_outcome_holds_up_another(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=600_000)
            for n in range(3):
                deployment.add(f"j{n}")
            refuse = deployment.complete

            async def complete(n: int, finished: list[Any], options: Any) -> Any:
                if any(one["id"] == "j1" for one in finished) and not options.get("deferCallbacks"):
                    deployment.calls.append(("refused", 0.0, [one["id"] for one in finished]))
                    raise Rejected("a callback throws")
                return await refuse(n, finished, options)

            deployment.complete = complete  # type: ignore[method-assign]
            run = Run(deployment, quick, concurrency=3)
            await asyncio.sleep(30)
            self.assertEqual(sorted(deployment.made("refused")[0]), ["j0", "j1", "j2"])
            self.assertEqual(sorted(one["id"] for one in deployment.recorded[:2]), ["j0", "j2"])
            self.assertEqual(deployment.recorded[2]["id"], "j1")
            self.assertTrue(deployment.made("complete")[-1]["deferCallbacks"])
            await run.stop()

        virtually(main())

    def test_one_that_is_refused_for_good_is_handed_over(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=600_000)
            deployment.add("a")
            deployment.troubles["complete"] = [Rejected("no")] * 6
            run = Run(deployment, quick)
            await asyncio.sleep(120)
            self.assertEqual([one["id"] for one in deployment.made("completeLater")], ["a"])
            self.assertEqual(len(deployment.recorded), 1)
            await run.stop()

        virtually(main())

    def test_errors_ask_for_no_retry_for_a_later_one_or_for_none_of_both(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def handler(job: Any) -> Any:
                if job.id == "plain":
                    raise KeyError("scene")
                if job.id == "never":
                    raise NoRetry("There is no such scene.")
                if job.id == "later":
                    raise RetryAfter(30, "busy")
                if job.id == "snoozed":
                    job.snooze(2.5)
                return object()

            for id in ("plain", "never", "later", "snoozed", "unsendable"):
                deployment.add(id)
            run = Run(deployment, handler, concurrency=5)
            await asyncio.sleep(3)
            outcomes = {one["id"]: one["outcome"] for one in deployment.recorded}
            self.assertEqual(outcomes["plain"]["error"], "KeyError: 'scene'")
            self.assertIn("Traceback", outcomes["plain"]["trace"])
            self.assertNotIn("retryable", outcomes["plain"])
            self.assertEqual(outcomes["never"]["error"], "There is no such scene.")
            self.assertIs(outcomes["never"]["retryable"], False)
            self.assertEqual(outcomes["later"]["retryAfterMs"], 30_000)
            self.assertEqual(outcomes["snoozed"], {"kind": "snoozed", "runAfter": 2_500})
            self.assertIn("a object is not a Convex value", outcomes["unsendable"]["error"])
            await run.stop()

        virtually(main())

    def test_a_wait_that_no_call_can_carry_is_a_plain_failure_and_frees_its_slot(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def handler(job: Any) -> Any:
                if job.id == "snoozed":
                    job.snooze(float("inf"))
                if job.id == "later":
                    raise RetryAfter(float("nan"))
                error = RetryAfter(1)
                error.seconds = float("inf")  # Behind the constructor's back.
                raise error

            for id in ("snoozed", "later", "changed", "last"):
                deployment.add(id)
            run = Run(deployment, handler)
            await asyncio.sleep(10)
            outcomes = {one["id"]: one["outcome"] for one in deployment.recorded}
            self.assertEqual(sorted(outcomes), ["changed", "last", "later", "snoozed"])
            for id in outcomes:
                self.assertEqual((outcomes[id]["kind"], outcomes[id].get("retryAfterMs")), ("failed", None), id)
            self.assertIn("must be from 0 to", outcomes["snoozed"]["error"])
            self.assertEqual((run.loop._attempts.held(), run.loop._attempts.slots_used()), ([], 0))
            await run.stop()

        virtually(main())

    def test_jobs_that_follow_are_the_ones_of_the_handler_s_end(self) -> None:
        async def main() -> None:
            deployment, jobs = FakeDeployment(), []

            async def handler(job: Any) -> None:
                jobs.append(job)
                job.continue_with("mails", 1)

            deployment.add("a")
            deployment.troubles["complete"] = [Unanswered("timeout")] * 3
            run = Run(deployment, handler)
            await asyncio.sleep(0.5)
            jobs[0].continue_with("mails", 2)  # A thread that goes on: the repeated call has the same arguments.
            await asyncio.sleep(5)
            self.assertEqual([one["payload"] for one in deployment.recorded[0]["continued"]], [1])
            await run.stop()

        virtually(main())

    def test_jobs_that_follow_and_no_call_can_carry_are_a_mistake_of_the_handler(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def handler(job: Any) -> None:
                if job.id == "name":
                    job.continue_with({"mails"}, None)
                for _ in range(9):
                    job.continue_with("mails", "x" * 1_000_000)

            deployment.add("name")
            deployment.add("bytes")
            run = Run(deployment, handler)
            await asyncio.sleep(5)
            errors = {one["id"]: one["outcome"].get("error", "") for one in deployment.recorded}
            self.assertIn("must be its name", errors["name"])
            self.assertIn("bytes together", errors["bytes"])
            self.assertEqual(run.loop._attempts.held(), [])
            await run.stop()

        virtually(main())

    def test_jobs_that_follow_go_with_the_result_and_with_no_failure(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def handler(job: Any) -> None:
                job.continue_with("mails", {"to": "ann"}, priority=5)
                if job.id == "fails":
                    raise NoRetry("no")

            deployment.add("works")
            deployment.add("fails")
            run = Run(deployment, handler, concurrency=2)
            await asyncio.sleep(3)
            following = {one["id"]: one.get("continued") for one in deployment.recorded}
            one = {"queue": "mails", "payload": {"to": "ann"}, "options": {"priority": 5}}
            self.assertEqual(following, {"works": [one], "fails": None})
            await run.stop()

        virtually(main())


class Leases(unittest.TestCase):
    def test_a_long_job_is_renewed_each_third_of_its_lease(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=6_000)
            deployment.add("a")
            run = Run(deployment, waits)
            await asyncio.sleep(61)
            beats = deployment.times("heartbeat")
            gaps = [later - earlier for earlier, later in zip(beats, beats[1:])]
            self.assertTrue(28 <= len(beats) <= 32, beats)
            self.assertTrue(all(1.9 <= gap <= 2.2 for gap in gaps), gaps)
            await run.stop(0)

        virtually(main())

    def test_a_beat_that_hangs_costs_no_lease(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=6_000)
            deployment.add("a")
            beat, calls = deployment.heartbeat, 0

            async def heartbeat(leases: list[Any], leaving: Any = None) -> list[Any]:
                nonlocal calls
                calls += 1
                if calls > 1:
                    return await beat(leases, leaving)
                await asyncio.sleep(10)
                raise Unanswered("no answer in time")

            deployment.heartbeat = heartbeat  # type: ignore[method-assign]
            run = Run(deployment, waits)
            await asyncio.sleep(20)
            self.assertEqual(run.kinds("leaseLost"), [])
            beats = deployment.times("heartbeat")
            gaps = [later - earlier for earlier, later in zip(beats, beats[1:])]
            self.assertTrue(all(1.9 <= gap <= 2.2 for gap in gaps), gaps)
            await run.stop(0)

        virtually(main())

    def test_a_job_whose_handler_still_runs_here_goes_back_and_comes_ever_more_seldom(self) -> None:
        async def main() -> None:
            deployment, begun = FakeDeployment(lease_ms=3_000), 0
            deployment.add("a")
            ends = asyncio.Event()

            async def handler(job: Any) -> None:
                nonlocal begun
                begun += 1
                while not ends.is_set():
                    try:
                        await ends.wait()
                    except asyncio.CancelledError:
                        pass

            run = Run(deployment, handler, concurrency=2)
            await asyncio.sleep(1)
            deployment.leases.clear()
            await asyncio.sleep(15)
            for attempt in range(1, 5):
                deployment.add("a", attempt=attempt)
                await asyncio.sleep(7)
            outcomes = [one["outcome"] for one in deployment.recorded]
            waits = [{"kind": "snoozed", "runAfter": ms} for ms in (2_000, 4_000, 8_000)]
            self.assertEqual(outcomes, [{"kind": "released"}, *waits])
            ends.set()
            await asyncio.sleep(1)
            deployment.add("a", attempt=5)
            await asyncio.sleep(7)
            self.assertEqual(begun, 2)
            await run.stop(0)

        virtually(main())

    def test_a_lost_lease_sets_the_event_and_drops_the_result(self) -> None:
        async def main() -> None:
            deployment, reasons = FakeDeployment(), []

            async def handler(job: Any) -> str:
                while not job.is_canceled:
                    await asyncio.sleep(0.1)
                reasons.append(job.cancel_reason)
                return "too late"

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(1)
            deployment.leases.clear()
            await asyncio.sleep(5)
            self.assertEqual(run.kinds("leaseLost")[0]["reason"], "leaseLost")
            self.assertEqual(len(run.kinds("resultDropped")), 1)
            self.assertEqual(deployment.made("complete"), [])
            await run.stop()

        virtually(main())

    def test_one_that_is_lost_is_heard_of_within_its_time_though_claims_in_vain_renew_it(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=60_000)
            deployment.add("a")
            run = Run(deployment, waits, concurrency=2)
            await asyncio.sleep(1)
            # As where the machine has slept, and its clock with it.
            deployment.leases.clear()
            with mock.patch.object(deployment, "has_work", lambda named=False: asyncio.sleep(0.01, True)):
                await asyncio.sleep(60)
            self.assertGreater(len(deployment.made("claim")), 10)
            self.assertEqual(len(deployment.made("heartbeat")), 1)
            self.assertEqual(run.kinds("leaseLost")[0]["reason"], "leaseLost")
            await run.stop()

        virtually(main())

    def test_without_answers_the_own_clock_ends_the_lease(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=3_000)
            deployment.add("a")
            run = Run(deployment, waits)
            await asyncio.sleep(0.5)
            deployment.troubles["heartbeat"] = [Unanswered("no connection")] * 100
            await asyncio.sleep(3)
            self.assertEqual(run.kinds("leaseLost")[0]["reason"], "expired")
            # It has not failed: should the lease still stand there, the job goes back.
            outcomes = [one["outcome"] for call in deployment.made("complete") for one in call["finished"]]
            self.assertEqual(outcomes, [{"kind": "released"}])
            deployment.troubles.clear()
            await run.stop()

        virtually(main())

    def test_a_canceled_job_is_told_within_two_seconds_and_ends_as_canceled(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=600_000)
            deployment.add("a")
            run = Run(deployment, waits)
            await asyncio.sleep(3)
            deployment.cancels.add("a")
            await asyncio.sleep(2.5)
            self.assertEqual(deployment.recorded[0]["outcome"], {"kind": "canceled"})
            self.assertEqual(run.kinds("aborted")[0]["reason"], "canceled")
            await run.stop()

        virtually(main())

    def test_a_question_for_cancellations_without_an_answer_is_no_rejected_call(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=600_000)
            deployment.add("a")
            deployment.troubles["cancellations"] = [Unanswered("no connection")] * 3 + [Rejected("no")]
            run = Run(deployment, waits)
            await asyncio.sleep(20)
            repeated = [one for one in run.kinds("callRepeated") if one["call"] == "cancellations"]
            self.assertEqual(len(repeated), 3)
            self.assertEqual([one["error"] for one in run.kinds("callRejected")], ["no"])
            deployment.troubles["cancellations"] = [ConveyorError("tokenRevoked", "The token was revoked.")]
            with self.assertRaises(ConveyorError):
                await run.task

        virtually(main())

    def test_an_attempt_that_runs_too_long_is_told_and_has_timed_out(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.add("a", timeoutMs=2_000)
            run = Run(deployment, waits)
            await asyncio.sleep(5)
            outcome = deployment.recorded[0]["outcome"]
            self.assertTrue(outcome["timedOut"])
            self.assertEqual(outcome["kind"], "failed")
            await run.stop()

        virtually(main())

    def test_a_job_that_comes_back_while_its_last_handler_runs_is_not_run_twice_at_once(self) -> None:
        async def main() -> None:
            deployment, running, most = FakeDeployment(), 0, 0

            async def stubborn(job: Any) -> str:
                nonlocal running, most
                running += 1
                most = max(most, running)
                try:
                    await asyncio.shield(asyncio.sleep(4))
                except asyncio.CancelledError:
                    await asyncio.sleep(4)
                running -= 1
                return "done"

            deployment.add("a")
            run = Run(deployment, stubborn, concurrency=2)
            await asyncio.sleep(0.5)
            deployment.leases.clear()
            deployment.pending.append({"id": "a", "queue": "q", "payload": None, "attempt": 1})
            await asyncio.sleep(4)
            outcomes = [one["outcome"]["kind"] for call in deployment.made("complete") for one in call["finished"]]
            self.assertEqual(most, 1)
            self.assertIn("released", outcomes)
            await run.stop(0)

        virtually(main())


    def test_a_beat_that_crosses_a_completion_does_not_lose_the_recorded_job(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(lease_ms=600)
            deployment.add("a")
            deployment.troubles["complete"] = [lost_reply(), Unanswered("timeout"), Unanswered("timeout")]
            run = Run(deployment, quick)
            await asyncio.sleep(5)
            self.assertIn([{"id": "a", "attempt": 1}], deployment.made("heartbeat"))
            self.assertEqual(run.kinds("leaseLost"), [])
            self.assertEqual(len(run.kinds("recorded")), 1)
            await run.stop()

        virtually(main())

    def test_a_job_that_a_reply_names_again_is_not_begun_again(self) -> None:
        async def main() -> None:
            attempts = Attempts(lambda event: None, lambda: None, lambda attempt: None)
            facts = {"id": "a", "queue": "q", "attempt": 1, "leaseMs": 1_000}
            self.assertIsNotNone(attempts.add(facts, 0))
            self.assertIsNone(attempts.add(facts, 0))
            self.assertIsNotNone(attempts.add({**facts, "attempt": 2}, 0))

        virtually(main())


class Said(unittest.TestCase):
    def test_log_entries_and_output_arrive_before_the_outcome_and_are_repeated_with_their_numbers(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.troubles["report"] = [lost_reply(), Unanswered("timeout")]

            async def handler(job: Any) -> str:
                job.progress({"percent": 50})
                job.log("begun", data={"n": 1})
                job.write("one, ")
                await asyncio.sleep(0.4)
                job.write("two")
                job.log("over", level="warn")
                return "ok"

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(10)
            logs = {one["entry"]: one for said in deployment.said for one in said["logs"]}
            texts = {one["index"]: one["text"] for said in deployment.said for one in said["output"]}
            self.assertEqual([logs[n]["message"] for n in sorted(logs)], ["begun", "over"])
            self.assertEqual("".join(texts[n] for n in sorted(texts)), "one, two")
            names = [name for name, _, _ in deployment.calls]
            self.assertLess(max(at for at, name in enumerate(names) if name == "report"), names.index("complete"))
            await run.stop()

        virtually(main())

    def test_two_handlers_that_say_something_at_one_instant_make_one_call(self) -> None:
        async def main() -> None:
            deployment, now, most = FakeDeployment(), 0, 0
            record = deployment.report

            async def report(said: Any) -> Any:
                nonlocal now, most
                now += 1
                most = max(most, now)
                try:
                    return await record(said)
                finally:
                    now -= 1

            deployment.report = report  # type: ignore[method-assign]
            attempts = Attempts(lambda event: None, lambda: None, lambda attempt: None)
            reports = Reports(deployment, attempts, lambda event: None, lambda error: "unanswered")  # type: ignore[arg-type]
            facts = {"queue": "q", "attempt": 1, "leaseMs": 1_000}
            one, two = (attempts.add({**facts, "id": id}, 0) for id in "ab")
            assert one is not None and two is not None
            for attempt in (one, two):
                reports.of(attempt).log({"level": "info", "message": "begun"})
            # The timer has come due, and its task has not run yet, when the second handler ends.
            reports._begin()
            done = reports.flush(two)
            reports._schedule()
            await asyncio.sleep(1)
            self.assertEqual((most, len(deployment.said)), (1, 1))
            assert done is not None and done.done()

        virtually(main())

    def test_a_report_that_is_refused_alone_is_given_up_and_the_outcome_goes_on(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.troubles["report"] = [Rejected("refused")] * 3

            async def handler(job: Any) -> str:
                job.log("begun")
                return "ok"

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(10)
            self.assertEqual(run.kinds("reportRefused")[0]["logs"], 1)
            self.assertEqual(len(deployment.recorded), 1)
            await run.stop()

        virtually(main())

    def test_a_report_that_is_never_answered_holds_up_no_outcome_for_ever_while_beats_are_answered(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.troubles["report"] = [Unanswered("HTTP 502")] * 1_000

            async def handler(job: Any) -> None:
                job.log("a line")

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(180)
            self.assertEqual(len(deployment.recorded), 1)
            self.assertEqual(len(run.kinds("reportRefused")), 1)
            await run.stop()

        virtually(main())

    def test_reports_that_are_refused_always_cost_no_job_its_outcome(self) -> None:
        for error in (Rejected("refused"), ConveyorError("quotaExceeded", "as much as it may")):

            async def main() -> None:
                deployment = FakeDeployment()
                deployment.troubles["report"] = [error] * 1_000

                async def handler(job: Any) -> None:
                    job.log("a line")

                for n in range(40):
                    deployment.add(f"j{n}")
                run = Run(deployment, handler, concurrency=4)
                await asyncio.sleep(30)
                self.assertEqual(len(run.kinds("reportRefused")), 40)
                self.assertEqual(len(deployment.recorded), 40)
                await run.stop()

            virtually(main())

    def test_a_token_that_has_written_as_much_as_it_may_goes_on_with_progress_alone(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.troubles["report"] = [ConveyorError("quotaExceeded", "as much as it may")]

            async def handler(job: Any) -> None:
                job.progress(0.5)
                job.log("a line")
                await asyncio.sleep(2)

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(5)
            self.assertEqual(len(deployment.made("report")), 2)
            self.assertEqual([one["value"] for one in deployment.said[0]["updates"]], [0.5])
            self.assertEqual(len(run.kinds("reportRefused")), 1)
            await run.stop()

        virtually(main())


class Ends(unittest.TestCase):
    def test_a_stop_lets_handlers_end_records_them_claims_nothing_and_says_goodbye(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def handler(job: Any) -> str:
                await asyncio.sleep(5)
                return "ok"

            deployment.add("a")
            deployment.add("b")
            run = Run(deployment, handler)
            await asyncio.sleep(1)
            await run.stop()
            self.assertEqual([one["outcome"]["kind"] for one in deployment.recorded], ["succeeded"])
            self.assertEqual([one["id"] for one in deployment.pending], ["b"])
            self.assertGreater(deployment.left or 0, 2)

        virtually(main())

    def test_after_the_grace_jobs_are_given_back(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()

            async def endless(job: Any) -> None:
                try:
                    await asyncio.sleep(1_000)
                except asyncio.CancelledError:
                    await asyncio.sleep(1_000)

            deployment.add("a")
            run = Run(deployment, endless)
            await asyncio.sleep(1)
            began = asyncio.get_running_loop().time()
            await run.stop(2)
            self.assertEqual([one["outcome"] for one in deployment.recorded], [{"kind": "released"}])
            self.assertLess(asyncio.get_running_loop().time() - began, 3)

        virtually(main())

    def test_the_result_of_a_job_whose_last_report_has_no_answer_is_recorded_before_the_end(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment(60_000)
            deployment.troubles["report"] = [Unanswered("no answer")] * 100

            async def handler(job: Any) -> str:
                job.log("unheard")
                return "ok"

            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(1)
            await run.stop(1)
            self.assertEqual([one["outcome"]["kind"] for one in deployment.recorded], ["succeeded"])

        virtually(main())

    def test_a_second_stop_with_more_grace_prolongs_nothing_before_the_end_of_the_first_grace_and_after_it(self) -> None:
        async def main(second_at: float) -> None:
            deployment = FakeDeployment()

            async def endless(job: Any) -> None:
                await asyncio.sleep(1_000)

            deployment.add("a")
            run = Run(deployment, endless)
            await asyncio.sleep(1)
            deployment.troubles["complete"] = [Unanswered("no answer")] * 100
            run.loop.stop(1)
            await asyncio.sleep(second_at)
            run.loop.stop(8)
            await asyncio.sleep(3.2 - second_at)
            self.assertTrue(run.task.done())
            self.assertEqual([one["grace_s"] for one in run.kinds("stopping")], [1])

        virtually(main(0))
        virtually(main(1.5))

    def test_a_stop_waits_for_no_answer_about_leases_and_none_to_an_outcome_that_is_handed_over(self) -> None:
        async def never(*_: Any) -> Any:
            await asyncio.sleep(10_000)

        async def handler(job: Any) -> None:
            pass

        async def main(deployment: FakeDeployment, stop_at: float) -> None:
            deployment.add("a")
            run = Run(deployment, handler)
            await asyncio.sleep(stop_at)
            run.loop.stop(0)
            await asyncio.sleep(2.3)
            self.assertTrue(run.task.done())

        unconfirmed, refused = FakeDeployment(60_000), FakeDeployment(60_000)
        unconfirmed.troubles["claim"] = [lost_reply()]
        unconfirmed.heartbeat = never  # type: ignore[method-assign]
        virtually(main(unconfirmed, 2))
        refused.troubles["complete"] = [Rejected("refused")] * 100
        refused.complete_later = never  # type: ignore[method-assign]
        virtually(main(refused, 100))

    def test_a_token_that_is_revoked_ends_the_run_with_its_error(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            deployment.troubles["hasWork"] = [ConveyorError("tokenRevoked", "The token was revoked.")]
            run = Run(deployment, quick)
            with self.assertRaises(ConveyorError) as raised:
                await run.task
            self.assertEqual(raised.exception.code, "tokenRevoked")

        virtually(main())

    def test_a_deployment_without_the_functions_is_named_and_one_out_of_reach_is_tried_again(self) -> None:
        async def main() -> None:
            deployment = FakeDeployment()
            missing = "Could not find public function for 'work:watch'."
            deployment.troubles["hello"] = [Unanswered("refused"), Unanswered("refused"), Rejected(missing)]
            run = Run(deployment, quick)
            with self.assertRaises(ConveyorError) as raised:
                await run.task
            self.assertEqual(raised.exception.code, "workerApiMissing")
            self.assertEqual(len(run.kinds("callRepeated")), 2)

        virtually(main())


if __name__ == "__main__":
    unittest.main()

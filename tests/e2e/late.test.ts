/** Stale, foreign and repeated messages of the worker protocol, through the app's functions and the official client. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LEASE_MS } from "../support/app/convex/queues.js";
import { api } from "../support/app/convex/_generated/api.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { Session, squared } from "../support/session.js";
import { jobCalls } from "../../src/shared/index.js";

const sums = jobCalls(api.sums);

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startApp();
  token = await app.token();
});
afterAll(() => app?.close());

const enqueue = (n: number) => app.client.mutation(...sums.enqueue("sums", { n, workMs: 0 }));
const status = (id: string) => app.client.query(...sums.status(id));

test("a stale lease is answered leaseLost and the rest of its batch stands", async () => {
  const slow = new Session(app.url, token, "slow");
  const fast = new Session(app.url, token, "fast");
  const first = await enqueue(1);
  const [lost] = await slow.claimed(1);
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
  expect(await fast.claimed(1)).toMatchObject([{ id: first, attempt: 2 }]);
  await fast.complete([{ id: first, attempt: 2, outcome: squared(1) }]);

  const second = await enqueue(2);
  const [held] = await slow.claimed(1);
  expect(held?.id).toBe(second);
  const reply = await slow.complete([
    { id: first, attempt: lost!.attempt, outcome: squared(-1) },
    { id: second, attempt: held!.attempt, outcome: squared(4) },
  ]);

  expect(reply.answers.map((answer) => answer.answer)).toEqual(["leaseLost", "ok"]);
  expect(await status(first)).toMatchObject({ result: { square: 1 }, worker: "fast" });
  expect(await status(second)).toMatchObject({ result: { square: 4 }, worker: "slow" });
});

// Shows LF-22.
test("a foreign lease is answered leaseLost: only its session can finish a job", async () => {
  const session = new Session(app.url, token, "session");
  const thief = new Session(app.url, token, "thief");
  const id = await enqueue(5);
  const [job] = await session.claimed(1);
  await thief.claim(1);
  const stolen = await thief.complete([{ id, attempt: job!.attempt, outcome: squared(0) }]);
  expect(stolen.answers[0]?.answer).toBe("leaseLost");
  expect(await status(id)).toMatchObject({ status: "running", worker: "session" });
  await session.complete([{ id, attempt: job!.attempt, outcome: squared(25) }]);
  expect(await status(id)).toMatchObject({ status: "succeeded", result: { square: 25 } });
});

test("a repeated call returns the first reply: nothing is claimed twice, no outcome is lost", async () => {
  const session = new Session(app.url, token, "repeater");
  const id = await enqueue(3);
  const jobs = await session.claimed(4);
  expect(jobs.map((job) => job.id)).toEqual([id]);
  await enqueue(4);
  expect((await session.claim(4, session.n)).jobs).toEqual(jobs);

  const finished = [{ id, attempt: 1, outcome: squared(9) }];
  const reply = await session.complete(finished);
  expect(reply.answers[0]?.answer).toBe("ok");
  expect(await session.complete(finished, session.n)).toEqual(reply);
  expect((await session.complete(finished)).answers[0]?.answer).toBe("recorded");
});

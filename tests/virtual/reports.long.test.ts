/** Workers' reports on their jobs, in virtual time: over a bad network, without conflicts, and read only by their own readers. */
import path from "node:path";
import { expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { root } from "../support/paths.js";
import { squared } from "../support/session.js";
import { startVirtualApp } from "../support/virtualApp.js";
import { jobCalls } from "../../src/shared/index.js";

const races = jobCalls(api.races);

const WRITER = path.join(root, "tests/support/app/writer.ts");
const WRITERS = 2;
const JOBS = 8;
const WORDS = 24;

/** The output of a job with this number. */
const outputOf = (n: number): string =>
  Array.from({ length: WORDS }, (_, word) => `${n}.${word}${word % 7 === 6 ? ", " : " "}`).join("");

test("over a network that loses and repeats calls, all that was written is there once and in order, and completions lose to no report", async () => {
  const { world, token } = await startVirtualApp({ seed: 7, class: "s256" });
  const payloads = Array.from({ length: JOBS }, (_, n) => ({ n }));
  const client = world.httpClient();
  const ids = await world.run(client.mutation(...races.enqueueMany("races", payloads)));
  for (let i = 0; i < WRITERS; i++) {
    const env = {
      ...{ CONVEX_URL: world.url, CONVEYOR_TOKEN: token },
      ...{ WORKER_NAME: `writer-${i}`, WORKER_CONCURRENCY: "2" },
    };
    const program = await world.program(WRITER, { name: `writer-${i}`, env });
    Object.assign(program.link.faults, { loseReplies: 0.08, repeatRequests: 0.08 });
  }
  const standing = () => world.run(client.query(...races.statuses(ids)));
  while ((await standing()).some((job) => job?.status !== "succeeded")) await world.advance(2_000);
  for (const [n, id] of ids.entries()) {
    const output = await world.run(client.query(api.races.output, { id, limit: 1_000 }));
    expect(output!.parts.map(({ text }) => text).join("")).toBe(outputOf(n));
    expect(output!.parts.map(({ index }) => index)).toEqual(output!.parts.map((_, i) => i));
    const log = await world.run(client.query(api.races.logs, { id }));
    expect(log!.entries.map(({ message }) => message)).toEqual(
      Array.from({ length: WORDS / 3 }, (_, i) => `word ${3 * i}`),
    );
  }
  const met = world.stats.snapshot().conflicts.filter(({ loser, winner }) => {
    return loser === "work:complete" && winner === "work:report";
  });
  expect(met).toEqual([]);
  await world.close();
});

test("a subscription to one job is recomputed when that job changes, and not for its worker's other calls", async () => {
  const { world, session } = await startVirtualApp({ seed: 1 });
  const payloads = [{ n: 1 }, { n: 2 }, { n: 3 }];
  await world.call("races:enqueue", { queue: "races", payloads });
  const worker = session("worker");
  const { jobs } = await world.run(worker.claim(3));
  const [mine, other, third] = jobs.map(({ id, attempt }) => ({ id: id, attempt }));
  const page = world.client();
  const { id } = mine!;
  const reads = ["status", "logs", "output"] as const;
  const asked: [(typeof reads)[number], object][] = [
    ["status", { id }],
    ["status", { ids: [id] }],
    ["status", { id, attempts: true, options: true }],
    ["logs", { id }],
    ["output", { id }],
  ];
  for (const [read, args] of asked) page.onUpdate(api.races[read] as any, args, () => {});
  await world.advance(1_000);
  /** How often each subscription was recomputed meanwhile. */
  const reran = async (what: () => Promise<unknown>): Promise<Record<string, number>> => {
    world.stats.reset();
    await what();
    await world.advance(1_000);
    const { functions } = world.stats.snapshot();
    const ran = reads.map((read) => [read, functions[`races:${read}`]?.billed ?? 0] as const);
    return Object.fromEntries(ran.filter(([, times]) => times > 0));
  };
  const said = (lease: { id: string; attempt: number }, at: number) => ({
    updates: [{ ...lease, value: at }],
    logs: [{ ...lease, entry: at, level: "info" as const, message: "x" }],
    output: [{ ...lease, index: at, text: "x" }],
  });
  const elsewhere = await reran(async () => {
    await world.run(worker.report(said(other!, 0)));
    await world.run(worker.beat([mine!, other!, third!]));
    await world.run(worker.complete([{ ...other!, outcome: squared(1) }]));
    await world.run(worker.complete([{ ...third!, outcome: { kind: "failed", error: "no" } }]));
    await world.call("races:enqueue", { queue: "races", payloads });
  });
  expect(elsewhere).toEqual({});
  const here = await reran(() => world.run(worker.report(said(mine!, 0))));
  expect(here).toEqual({ status: 3, logs: 1, output: 1 });
  const ended = await reran(() => world.run(worker.complete([{ ...mine!, outcome: squared(1) }])));
  expect(ended).toEqual({ status: 3, logs: 1, output: 1 });
  await world.close();
});

/**
 * Reports of as many leases as one call may have, of jobs that have all the output and log entries that are kept, written by
 * earlier attempts: no call reads or writes half of what a transaction may, and calls that are repeated record all.
 */
import { beforeEach, expect, test } from "vitest";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import {
  LEASES_MAX,
  OUTPUT_MAX_BYTES,
  OUTPUT_PART_MAX_BYTES,
  REPORT_MAX_BYTES,
  type ReportAnswer,
} from "../../src/shared/index.js";
import { mutation } from "../interleavings/line.js";
import { answerOf, Transactions, type Call } from "../interleavings/transactions.js";
import { COMPONENT, deploymentOf } from "../races/deployment.js";
import { fullReport, heavyJob, keptOf, many, text } from "./fullShapes.js";
import { LargeWorld, usedBy } from "./largeWorld.js";
import { COLUMNS } from "./report.js";

const deployment = await deploymentOf([]);
const ATTEMPT = 3;

let world: LargeWorld;
let jobs: string[];

/** Jobs of one session, as a lane has it and as a worker has it: it is known by the token and by the lane. */
beforeEach(async () => {
  world = new LargeWorld(new Transactions(deployment));
  await world.line.open();
  const { now } = world.transactions;
  const [token] = world.line.rows("tokens");
  const [session] = await world.plant("sessions", [
    {
      ...{ sessionKey: "full", token: token!._id, name: "w", state: "active", callSeq: 1 },
      ...{ lastSeenAt: now, expiresAt: now + 60_000, queues: ["tiles"], leases: [] },
      ...{ acknowledged: true, reply: { answers: [] } },
    },
  ]);
  const [lane] = await world.plant("lanes", [{ queue: "tiles", session, cap: 1 }]);
  await world.write((transaction) => transaction.patch(COMPONENT, session!, { lane }));
  const running = { status: "running", order: 0, shard: 0, startedAt: now, enqueuedAt: now };
  jobs = await world.plant(
    "jobs",
    many(LEASES_MAX, () => ({
      ...{ ...heavyJob("tiles"), ...running, attempt: ATTEMPT, session, seq: world.seqOf(0) },
    })),
  );
});

const leasesOf = (some: readonly string[]) => some.map((id) => ({ id, attempt: ATTEMPT }));
type Said = ReturnType<typeof fullReport>;
const NOTHING: Said = { updates: [], logs: [], output: [] };

function workerCall(said: Said): Call {
  return mutation("lib:report", { token: world.line.token, sessionKey: "full", ...said });
}

/** Says this again and again, as a worker does, without the leases that were answered for. Returns the calls' answers. */
async function sayAll(said: Said, callOf = workerCall): Promise<ReportAnswer[][]> {
  const calls: ReportAnswer[][] = [];
  let left = said;
  while (left.updates.length + left.logs.length + left.output.length > 0) {
    const begun = await world.transactions.run(world.line.point, callOf(left));
    const used = usedBy(begun);
    for (const [of] of COLUMNS) expect(used[of], of).toBeLessThan(PLATFORM_LIMITS[of] / 2);
    const { answers } = answerOf<{ answers: ReportAnswer[] }>(begun);
    world.line.point = world.line.point.commit(begun.transaction, begun.call.path)!;
    expect(answers.length).toBeGreaterThan(0);
    const answered = new Set(answers.map(({ id }) => id));
    const isLeft = ({ id }: { id: string }) => !answered.has(id);
    left = {
      updates: left.updates.filter(isLeft),
      logs: left.logs.filter(isLeft),
      output: left.output.filter(isLeft),
    };
    calls.push(answers);
  }
  return calls;
}

const plantKept = async () => {
  for (const job of jobs)
    for (const [table, rows] of Object.entries(keptOf(job, ATTEMPT - 1)))
      await world.plant(table, rows);
};

/** The job's stored output, and the bytes of the attempt that runs. */
const outputOf = (id: string) => world.line.rows("chunks").filter(({ job }) => job === id);

test.each([
  ["a worker", workerCall],
  ["a lane", (said: Said) => mutation("lib:laneReport", said)],
])("the reports of %s about 64 full jobs are all recorded, in a few calls", async (_, callOf) => {
  await plantKept();
  const calls = await sayAll(fullReport(leasesOf(jobs)), callOf);
  expect(calls.length).toBeLessThan(8);
  for (const answer of calls.flat()) {
    expect(answer).toEqual({ id: answer.id, attempt: ATTEMPT, answer: "ok", nextIndex: 4 });
    const own = outputOf(answer.id).filter(({ attempt }) => attempt === ATTEMPT);
    expect(own.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3]);
  }
  const logged = world.line.rows("logs").filter(({ attempt }) => attempt === ATTEMPT);
  expect(logged).toHaveLength(4 * LEASES_MAX);
});

test("changes of the largest log entries of 64 full jobs are all recorded", async () => {
  await plantKept();
  const { logs } = fullReport(leasesOf(jobs));
  await sayAll({ ...NOTHING, logs });
  const data = text(8_000);
  const changed = logs.map((one) => ({ ...one, message: text(2_000), data, revision: 1 }));
  await sayAll({ ...NOTHING, logs: changed });
  await sayAll({ ...NOTHING, logs: changed.map((one) => ({ ...one, revision: 2 })) });
  const own = world.line.rows("logs").filter(({ attempt }) => attempt === ATTEMPT);
  expect(own.every(({ revision }) => revision === 2)).toBe(true);
});

test("a lease with as many changed entries as a call may have, and output behind 16 MiB, is recorded in one call", async () => {
  const [job] = jobs;
  await plantWhole(job!);
  const lease = { id: job!, attempt: ATTEMPT };
  const log = { ...lease, level: "info", message: text(4_000), data: text(8_000), revision: 0 };
  for (const from of [0, 128])
    await sayAll({ ...NOTHING, logs: many(128, (n) => ({ ...log, entry: from + n })) });
  const logs = many(256, (entry) => ({ ...log, entry, message: "x", data: "y", revision: 1 }));
  const output = [{ ...lease, index: 0, text: text(OUTPUT_PART_MAX_BYTES) }];
  expect(await sayAll({ ...NOTHING, logs, output })).toHaveLength(1);
});

test("a part of the largest size of each of 64 leases, behind one as large, is recorded in one call", async () => {
  const part = text(OUTPUT_PART_MAX_BYTES);
  const said = (index: number) => ({
    ...NOTHING,
    output: leasesOf(jobs).map((lease) => ({ ...lease, index, text: part })),
  });
  for (const index of [0, 1]) expect(await sayAll(said(index))).toHaveLength(1);
});

test("calls of a single job that bring as much output as one may, behind 16 MiB, are refused none", async () => {
  await plantWhole(jobs[0]!);
  const parts = REPORT_MAX_BYTES / OUTPUT_PART_MAX_BYTES;
  for (let from = 0; from < 4 * parts; from += parts) {
    const output = many(parts, (n) => ({
      ...{ id: jobs[0]!, attempt: ATTEMPT, index: from + n, text: text(OUTPUT_PART_MAX_BYTES) },
    }));
    const answer = { id: jobs[0], attempt: ATTEMPT, answer: "ok", nextIndex: from + parts };
    expect(await sayAll({ ...NOTHING, output })).toEqual([[answer]]);
  }
  expect(bytesOf(jobs[0]!)).toBeLessThan(1.2 * OUTPUT_MAX_BYTES);
});

test("20 jobs with many small parts to delete are reported in calls that write few enough rows", async () => {
  const some = jobs.slice(0, 20);
  for (const id of some) {
    const small = many(520, (index) => ({
      ...{ job: id, attempt: 2, index, text: "x" },
      total: index + 1,
    }));
    await world.plant("chunks", small);
    await world.plant("chunks", [
      { job: id, attempt: 2, index: 520, text: text(1_000), total: OUTPUT_MAX_BYTES },
    ]);
  }
  const output = leasesOf(some).map((lease) => ({ ...lease, index: 0, text: text(600) }));
  const calls = await sayAll({ ...NOTHING, output });
  expect(calls.flat().every(({ nextIndex }) => nextIndex === 1)).toBe(true);
});

test("a token's quota counts a report when it is recorded, and not with a call that leaves it for the next", async () => {
  await plantKept();
  const said = {
    ...NOTHING,
    output: leasesOf(jobs).map((lease) => ({
      ...lease,
      index: 0,
      text: text(OUTPUT_PART_MAX_BYTES),
    })),
  };
  // Of 4 MiB each call would be counted, and of a third of these about one in three.
  const counted: number[] = [];
  for (let dice = 0; dice < 12; dice += 1) {
    const line = world.line.after(world.line.point);
    await line.do(workerCall(said));
    counted.push(line.rows("tokenWrites").length);
  }
  expect(counted).toContain(0);
});

/** All output that a job may have, of an earlier attempt. */
async function plantWhole(job: string): Promise<void> {
  await world.plant(
    "chunks",
    many(OUTPUT_MAX_BYTES / OUTPUT_PART_MAX_BYTES, (index) => ({
      ...{ job, attempt: ATTEMPT - 1, index, text: text(OUTPUT_PART_MAX_BYTES) },
      total: (index + 1) * OUTPUT_PART_MAX_BYTES,
    })),
  );
}

const bytesOf = (id: string) =>
  outputOf(id).reduce((sum, row) => sum + (row["text"] as string).length, 0);

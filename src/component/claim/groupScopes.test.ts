/** A token for all groups with a prefix: its workers have jobs of these groups alone. */
import { describe, expect, test } from "vitest";
import { GROUP_MAX_LENGTH, type GroupScope } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, Worker, type World } from "../setup.test.js";

const payloads = (jobs: { payload?: unknown }[]) => jobs.map(({ payload }) => payload).sort();

async function tokenFor(world: World, groups: GroupScope) {
  return await world.t.mutation(api.operate.createToken, { name: "acme", groups });
}

/** A job of each of these groups, and one of none; and a worker with a token. */
async function mixed(scope: GroupScope, groups: string[]) {
  const world = await newWorld({ shards: 4 });
  for (const group of groups) await world.enqueue(group, { group });
  await world.enqueue("none");
  const { id, token } = await tokenFor(world, scope);
  return { world, id, token, worker: new Worker(world, "w", "session-w", token) };
}

describe("a token for a prefix", () => {
  const GROUPS = ["org_1", "org_1/a", "org_12", "org", "xorg_1", "ORG_1"];
  const mine = ["org_1", "org_1/a", "org_12"];

  // Shows LF-08.
  test("peeks at, is notified of, and claims jobs of groups that begin with it alone, the one of its very name included", async () => {
    const { worker } = await mixed({ prefix: "org_1" }, GROUPS);
    expect(payloads(await worker.peek())).toEqual(mine);
    expect((await worker.waiting()).jobs).toHaveLength(3);
    expect(await worker.hasWork()).toBe(true);
    expect(payloads(await worker.claim(9))).toEqual(mine);
    expect(await worker.hasWork({}, { on: true })).toBe(false);
    expect((await worker.waiting()).jobs).toEqual([]);
  });

  test("narrows further the groups that its worker names, and refuses others in every call that searches", async () => {
    const { world, worker } = await mixed({ prefix: "org_1" }, GROUPS);
    const { token, sessionKey } = worker;
    const groups = { groups: ["org_12", "org"] };
    const claim = { queues: [world.queue], max: 9, ...groups };
    for (const call of [
      worker.peek(groups),
      worker.hasWork(groups),
      worker.waiting(groups),
      worker.claim(9, groups),
      world.t.mutation(api.lib.complete, {
        ...{ token, sessionKey, callSeq: 9, claim },
        finished: [succeeded({ id: "x", attempt: 1 })],
      }),
    ]) {
      const refused = await refusal(call);
      expect(refused).toMatchObject({ code: "groupForbidden", group: "org" });
      expect(refused.message).toContain('groups that begin with "org_1", not of the group "org"');
    }
    expect(await world.all("sessions")).toEqual([]);
    worker.n = 0;
    expect(payloads(await worker.claim(9, { groups: ["org_12"] }))).toEqual(["org_12"]);
  });

  test("does not take a job that it names, outside its groups", async () => {
    const { world, worker } = await mixed({ prefix: "org_1" }, GROUPS);
    const { token, sessionKey, name } = worker;
    const named = (await world.all("jobs")).map(({ _id }) => _id as string);
    const claim = { queues: [world.queue], max: 9, named, lookIn: [] };
    const { jobs } = await world.t.mutation(api.lib.claim, {
      token,
      sessionKey,
      name,
      callSeq: 1,
      ...claim,
    });
    expect(payloads(jobs)).toEqual(mine);
  });

  test("does not pass, by a cursor made for one group, jobs of the others", async () => {
    const { world, worker } = await mixed({ prefix: "a" }, ["ab", "ac"]);
    expect(payloads(await worker.claim(9, { groups: ["ab"] }))).toEqual(["ab"]);
    expect(payloads(await worker.claim(9))).toEqual(["ac"]);
    await world.enqueue("later", { group: "ad" });
    expect(await worker.hasWork({}, { on: true })).toBe(true);
    expect(payloads(await worker.claim(9))).toEqual(["later"]);
  });

  test("reports on its jobs, and continues with jobs of its groups alone", async () => {
    const { world, worker } = await mixed({ prefix: "org_1" }, ["org_1", "org"]);
    const [job] = await worker.claim(9);
    expect(await worker.progress([{ id: job!.id, attempt: 1, value: 1 }])).toEqual(["ok"]);
    const follow = (group: string) => [
      { queue: world.queue, jobs: [{ payload: group, options: { group } }] },
    ];
    await worker.complete([{ ...succeeded(job!), continued: follow("org_19") }]);
    const [next] = await worker.claim(9);
    expect(next).toMatchObject({ payload: "org_19" });
    await worker.complete([{ ...succeeded(next!), continued: follow("org") }]);
    expect(await world.status(next!.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining('not of the group "org"'),
    });
  });

  test("is compared as it is written: letters that look alike are others", async () => {
    const composed = "\u00e9";
    const decomposed = "e\u0301";
    const { worker } = await mixed({ prefix: composed }, [`${composed}1`, `${decomposed}2`]);
    expect(payloads(await worker.claim(9))).toEqual([`${composed}1`]);
  });

  test("is kept in its session's row, by which jobs are left to workers outside", async () => {
    const world = await newWorld({ push: true, fallbackAfterMs: 5_000 });
    const { token } = await tokenFor(world, { prefix: "org_" });
    const worker = new Worker(world, "w", "session-w", token);
    await worker.claim(1);
    const [session] = await world.all("sessions");
    expect(session).toMatchObject({ groupPrefix: "org_" });
    expect(session!.groups).toBeUndefined();
  });

  test("may be as long as a group, and not longer, and not empty or blank", async () => {
    const longest = "g".repeat(GROUP_MAX_LENGTH);
    const { world, worker } = await mixed({ prefix: longest }, [longest]);
    expect(payloads(await worker.claim(9))).toEqual([longest]);
    for (const prefix of ["", "  ", `${longest}g`])
      expect((await refusal(tokenFor(world, { prefix }))).code).toBe("invalidArgument");
  });

  test("is listed, kept by a rotation, and returned to the app", async () => {
    const { world, id } = await mixed({ prefix: "org_" }, []);
    const { token } = await world.t.mutation(api.operate.rotateToken, { id });
    const scope = { id, name: "acme", queues: null, groups: { prefix: "org_" } };
    expect((await world.t.query(api.operate.listTokens, {}))[0]).toMatchObject(scope);
    expect(await world.t.query(api.lib.checkToken, { token })).toEqual(scope);
  });
});

/** The arguments of `authorize` of the workers' functions: the token, its scope, and the request. */
import { beforeEach, describe, expect, test } from "vitest";
import type { WatchCall, WorkerCall } from "./index.js";
import {
  api,
  conveyor,
  internal,
  loose,
  pages,
  refusal,
  setup,
  tiles,
  watching,
  type App,
} from "./setup.test.js";

const calls: WorkerCall[] = [];
let answer = true;
beforeEach(() => {
  calls.length = 0;
  answer = true;
});
const guarded = conveyor.workerApi({
  queues: [tiles, loose],
  authorize: (_ctx, call) => {
    calls.push(call);
    return answer;
  },
});
const workers = api as unknown as { guarded: (typeof api)["app"] };

const look = (t: App, token: string, call: WatchCall) =>
  watching(t, token, call, workers.guarded.watch);

async function world() {
  const t = setup({ modules: { guarded } });
  const made = { name: "acme", queues: ["tiles"], groups: ["org"] };
  const { id, token } = await t.mutation(internal.app.createToken, made);
  return { t, id, token, scope: { id, ...made }, sessionKey: { token, sessionKey: "s" } };
}

describe("authorize of the workers' functions", () => {
  // Shows O3.
  test("receives the token and its scope, and the queues and groups of the request", async () => {
    const { t, token, scope, sessionKey: session } = await world();
    const of = { queues: ["tiles"] };
    const jobs = { queues: ["tiles"], groups: ["org"] };
    await look(t, token, { kind: "hello", ...of });
    await look(t, token, { kind: "hasWork", ...of });
    await look(t, token, { kind: "peek", ...of, groups: ["org"] });
    const claim = { queues: ["tiles"], max: 1 };
    await t.mutation(workers.guarded.claim, { ...session, name: "w", callSeq: 1, ...claim });
    const lease = { id: "x", attempt: 1 };
    const finished = [{ ...lease, outcome: { kind: "released" as const } }];
    await t.mutation(workers.guarded.complete, { ...session, callSeq: 2, finished, claim });
    await t.mutation(workers.guarded.complete, { ...session, finished, later: true });
    await t.mutation(workers.guarded.heartbeat, { ...session, leases: [lease] });
    const updates = [1, 2].map((value) => ({ ...lease, value }));
    await t.mutation(workers.guarded.report, { ...session, updates });
    await look(t, token, { kind: "cancellations", sessionKey: "s" });
    expect(calls).toEqual([
      { kind: "hello", token: scope, ...jobs },
      { kind: "hasWork", token: scope, ...jobs },
      { kind: "peek", token: scope, ...jobs },
      { kind: "claim", token: scope, sessionKey: "s", name: "w", ...jobs },
      { kind: "complete", token: scope, sessionKey: "s", finished, claim: jobs },
      { kind: "complete", token: scope, sessionKey: "s", finished },
      { kind: "heartbeat", token: scope, sessionKey: "s", leases: [lease] },
      { kind: "report", token: scope, sessionKey: "s", leases: [lease] },
      { kind: "cancellations", token: scope, sessionKey: "s" },
    ]);
  });

  test("is not asked for a token that was never made, or a group that is not the token's", async () => {
    const { t, token } = await world();
    const of = { queues: ["tiles"] };
    const forged = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
    const stranger = look(t, forged, { kind: "hasWork", ...of });
    await refusal(stranger, "tokenUnknown");
    const outside = look(t, token, { kind: "peek", ...of, groups: ["other"] });
    expect(await refusal(outside, "groupForbidden")).toMatchObject({ allowed: ["org"] });
    expect(calls).toEqual([]);
  });

  test("may refuse by the token alone", async () => {
    const { t, token } = await world();
    answer = false;
    await refusal(look(t, token, { kind: "hasWork", queues: ["tiles"] }), "forbidden");
  });
});

test("a token's jobs are the jobs of its groups, through the app's functions and for related data", async () => {
  const { t, token } = await world();
  await t.mutation(...pages.enqueue("tiles", { x: 1 }));
  expect(await watching(t, token, { kind: "peek", queues: ["tiles"] })).toEqual([]);
  const claim = { token, sessionKey: "s", name: "w", callSeq: 1, queues: ["tiles"], max: 9 };
  expect((await t.mutation(api.app.claim, claim)).jobs).toEqual([]);
});

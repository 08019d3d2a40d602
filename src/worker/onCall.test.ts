/** What a worker of a large fleet follows, and when it claims: the deployment says its duty. */
import { describe, expect, test } from "vitest";
import { DUTY_BEAT_MS, STANDBY_MS, WATCH_MS, type Duty } from "../shared/index.js";
import { manual, startLoop } from "./fakes.test.js";
import { EMPTY_WAIT_MAX_MS, LOOK_AGAIN_MS, UNTAKEN_MS } from "./limits.js";
import { peersKey } from "./onCall.js";

const STANDBY: Duty = { kind: "standby", since: 7, nextMs: STANDBY_MS };
const ON_CALL: Duty = { kind: "onCall", size: 2, rank: 0, nextMs: DUTY_BEAT_MS };

/** A worker whose second claim is answered with this duty. */
async function withDuty(
  duty: Duty,
  options: Parameters<typeof startLoop>[1] = { presenceMs: 60_000 },
) {
  const { begun, handler } = manual();
  const started = startLoop(handler, { peers: "alike", ...options });
  const answer = { duty };
  started.deployment.claimAnswer = ({ onCall }) =>
    onCall === undefined ? {} : { duty: answer.duty };
  started.deployment.beatAnswer = (onCall) => (onCall === undefined ? {} : { duty: answer.duty });
  /** The places from which it was followed whether they are called up, and have ended to be. */
  const standbys: { since: number; call: (isCalled: boolean) => void; isOver: boolean }[] = [];
  started.deployment.watchStandby = ({ since }, call) => {
    const one = { since, call, isOver: false };
    standbys.push(one);
    return () => void (one.isOver = true);
  };
  await started.clock.advance(1_000);
  return { ...started, begun, answer, standbys };
}

describe("a worker", () => {
  test("says with its claims which its peers are, unless it has none", async () => {
    const { deployment } = await withDuty(ON_CALL);
    expect(deployment.requests[0]!.onCall).toMatchObject({ peers: "alike" });
    const { peers: _, ...none } = { peers: "alike" };
    const alone = startLoop(manual().handler, none);
    await alone.clock.advance(100);
    expect(alone.deployment.requests[0]!.onCall).toBeUndefined();
  });

  test("that is answered with no duty follows its queues, as in a small fleet", async () => {
    const { handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { peers: "alike" });
    let standbys = 0;
    deployment.watchStandby = () => {
      standbys += 1;
      return () => {};
    };
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    deployment.enqueue();
    await clock.advance(100);
    expect(callsOf("claim")).toHaveLength(before + 1);
    expect(standbys).toBe(0);
  });
});

describe("on standby", () => {
  test("it hears of no job, and claims none, but says every half hour that it lives", async () => {
    const { clock, deployment, callsOf } = await withDuty(STANDBY);
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    deployment.enqueue();
    await clock.advance(STANDBY_MS - 10_000);
    expect(callsOf("claim")).toHaveLength(before);
    expect(callsOf("heartbeat")).toHaveLength(0);
    await clock.advance(20_000);
    expect(callsOf("heartbeat")).toMatchObject([{ onCall: { peers: "alike", room: 1 } }]);
  });

  test.each([
    ["every ten seconds per worker", 24, [120_000, 360_000]],
    ["of a large fleet every half hour", 900, [STANDBY_MS, STANDBY_MS]],
  ] as const)(
    "by itself it says that it lives %s, give or take a half",
    async (_, size, [least, most]) => {
      const { clock, deployment, callsOf } = await withDuty(STANDBY, {});
      let draws = 0;
      clock.random = () => (draws += 0.3) % 1;
      deployment.beatAnswer = (onCall) =>
        onCall === undefined
          ? { fleet: size }
          : { fleet: size, duty: { ...STANDBY, nextMs: 1_000 } };
      await clock.advance(STANDBY_MS + 60_000);
      const said = callsOf("heartbeat").map(({ onCall }: any) => onCall.presenceMs as number);
      expect(said.length).toBeGreaterThan(5);
      // Before its first beat it does not know how large its fleet is.
      expect(said.shift()).toBeUndefined();
      expect(Math.min(...said)).toBeGreaterThanOrEqual(least);
      expect(Math.max(...said)).toBeLessThanOrEqual(most);
      expect(new Set(said).size > 1).toBe(least < most);
    },
  );

  test("it claims at once when it is called up, works while it finds jobs, and goes back", async () => {
    const { clock, deployment, callsOf, begun, answer, standbys } = await withDuty(STANDBY);
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    deployment.enqueue();
    deployment.enqueue();
    answer.duty = { kind: "off" };
    standbys[0]!.call(true);
    await clock.advance(20);
    expect(callsOf("claim")).toHaveLength(before + 1);
    expect(standbys[0]!.isOver).toBe(true);
    begun[0]!.resolve();
    await clock.advance(20);
    // The next came with the outcome.
    expect(begun).toHaveLength(2);
    answer.duty = { ...STANDBY, since: 9 };
    begun[1]!.resolve();
    await clock.advance(1_000);
    expect(standbys.map(({ since }) => since)).toEqual([7, 9]);
    expect(callsOf("claim")).toHaveLength(before + 1);
  });

  test("it claims every ten seconds where it watches, and keeps its place", async () => {
    const { clock, callsOf, standbys } = await withDuty({
      ...STANDBY,
      kind: "watch",
      nextMs: WATCH_MS,
    });
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    await clock.advance(3 * WATCH_MS);
    expect(callsOf("claim")).toHaveLength(before + 3);
    expect(callsOf("heartbeat")).toEqual([]);
    expect(standbys).toHaveLength(1);
  });

  test("it says that it lives where it was to watch, and is quiet", async () => {
    const { clock, callsOf, loop } = await withDuty({
      ...STANDBY,
      kind: "watch",
      nextMs: WATCH_MS,
    });
    await clock.advance(3 * LOOK_AGAIN_MS);
    loop.setQuiet(true, "operator");
    await clock.advance(2 * WATCH_MS);
    expect(callsOf("heartbeat")[0]).toMatchObject({ onCall: { room: 0 } });
  });

  test.each([
    ["a beat is not answered", "before" as const],
    ["the answer to a beat is lost", "after" as const],
  ])("it claims when %s: it may be on call", async (_what, fault) => {
    const { clock, deployment, callsOf } = await withDuty(STANDBY);
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    deployment.fault = (call) => (call === "heartbeat" ? fault : undefined);
    await clock.advance(STANDBY_MS);
    expect(callsOf("claim").length).toBeGreaterThan(before);
  });

  test("it claims when a beat says so: no other is on call", async () => {
    const { clock, deployment, callsOf } = await withDuty(STANDBY);
    await clock.advance(3 * LOOK_AGAIN_MS);
    const before = callsOf("claim").length;
    deployment.beatAnswer = () => ({ duty: { kind: "off" } });
    await clock.advance(STANDBY_MS);
    expect(callsOf("claim")).toHaveLength(before + 1);
  });
});

describe("on call", () => {
  test("it follows its queues, and says every twenty seconds that it does", async () => {
    const { clock, deployment, callsOf, begun } = await withDuty(ON_CALL);
    await clock.advance(3 * DUTY_BEAT_MS);
    expect(callsOf("heartbeat").length).toBeGreaterThanOrEqual(2);
    deployment.enqueue();
    await clock.advance(200);
    expect(begun).toHaveLength(1);
  });

  test("without room it reports a job that no other takes, and goes on to until one does", async () => {
    const { clock, deployment, callsOf } = await withDuty(ON_CALL);
    await clock.advance(3 * LOOK_AGAIN_MS);
    deployment.enqueue();
    await clock.advance(200);
    deployment.enqueue();
    await clock.advance(3 * UNTAKEN_MS + 50);
    const beats = callsOf("heartbeat").filter(({ onCall }) => (onCall?.more ?? 0) > 0);
    expect(beats).toMatchObject([{ onCall: { room: 0 } }, { onCall: { room: 0 } }]);
  });

  test("it ends its duty at once when it is told to be quiet", async () => {
    const { clock, callsOf, loop } = await withDuty(ON_CALL);
    await clock.advance(1_000);
    loop.setQuiet(true);
    await clock.advance(10);
    expect(callsOf("heartbeat")).toMatchObject([{ onCall: { room: 0 } }]);
  });
});

describe("a worker whose subscriptions never speak, while its calls are answered,", () => {
  test.each([
    ["is put on call", ON_CALL],
    ["is given no duty any more", undefined],
  ])("polls when it %s", async (_what, duty) => {
    const { clock, deployment, callsOf, begun, answer, standbys } = await withDuty(STANDBY);
    await clock.advance(3 * LOOK_AGAIN_MS);
    deployment.watchHasWork = () => ({ goOn: () => {}, end: () => {} });
    if (duty === undefined) deployment.claimAnswer = () => ({});
    else answer.duty = duty;
    const before = callsOf("claim").length;
    standbys[0]!.call(true);
    await clock.advance(100);
    expect(callsOf("claim")).toHaveLength(before + 1);
    deployment.enqueue();
    await clock.advance(2 * EMPTY_WAIT_MAX_MS);
    expect(begun).toHaveLength(1);
  });
});

describe("on call, of a job that prefers another worker by its name,", () => {
  /** Its subscription says which jobs wait, and which workers they prefer. */
  async function onCall() {
    const started = await withDuty(STANDBY);
    let say: (...workers: string[]) => void = () => {};
    started.deployment.watchHasWork = (onValue) => {
      say = (...workers) =>
        onValue("tiles", { jobs: workers.map((worker) => ({ id: worker, worker })), more: false });
      say();
      return { goOn: () => {}, end: () => {} };
    };
    started.answer.duty = ON_CALL;
    started.standbys[0]!.call(true);
    await started.clock.advance(100);
    const told = () => started.callsOf("heartbeat").map(({ onCall }) => onCall?.prefers);
    return { ...started, say, told };
  }

  test("it names that worker with a beat, once, and then with its beats of each twenty seconds", async () => {
    const { clock, say, told, callsOf } = await onCall();
    const claims = callsOf("claim").length;
    say("b", "b", "c");
    await clock.advance(UNTAKEN_MS + 10);
    expect(told()).toEqual([["b", "c"]]);
    await clock.advance(10 * DUTY_BEAT_MS);
    expect(told().length).toBeLessThanOrEqual(1 + 7 + 10);
    expect(callsOf("claim")).toHaveLength(claims);
    const before = told().length;
    say("b", "c", "d");
    await clock.advance(UNTAKEN_MS + 10);
    expect(told().slice(before)).toEqual([["b", "c", "d"]]);
  });

  test("it says nothing of one that is taken at once, nor of a job of its own", async () => {
    const { clock, say, told } = await onCall();
    say("b");
    await clock.advance(UNTAKEN_MS / 2);
    say();
    await clock.advance(2 * UNTAKEN_MS);
    say("worker");
    await clock.advance(2 * UNTAKEN_MS);
    expect(told()).toEqual([]);
  });

  test("it names a worker soon though the jobs that wait change all the time", async () => {
    const { clock, say, told } = await onCall();
    for (let i = 0; i < 10; i += 1) {
      say(`b${i}`);
      await clock.advance(UNTAKEN_MS / 4);
    }
    expect(told().length).toBeGreaterThanOrEqual(2);
  });
});

describe("on call, and told to stop,", () => {
  test("an idle worker says only that it leaves", async () => {
    const { callsOf, clock, loop } = await withDuty(ON_CALL);
    loop.stop();
    await clock.advance(100);
    expect(callsOf("heartbeat")).toMatchObject([{ leaving: expect.any(Number) as number }]);
  });

  test("a busy one ends its duty at once", async () => {
    const { callsOf, clock, deployment, begun, loop } = await withDuty(ON_CALL);
    deployment.enqueue();
    await clock.advance(1_000);
    expect(begun).toHaveLength(1);
    const before = callsOf("heartbeat").length;
    loop.stop();
    await clock.advance(10);
    expect(callsOf("heartbeat").slice(before)).toMatchObject([{ onCall: { room: 0 } }]);
  });
});

test("a duty that ends while a beat is on its way is ended by another right after that", async () => {
  const { clock, deployment, callsOf, loop } = await withDuty(ON_CALL);
  const beat = deployment.heartbeat.bind(deployment);
  deployment.heartbeat = async (leases, options) => {
    const answer = await beat(leases, options);
    await new Promise<void>((resolve) => clock.after(200, resolve));
    return answer;
  };
  while (callsOf("heartbeat").length === 0) await clock.advance(100);
  loop.setQuiet(true);
  await clock.advance(1_000);
  const rooms = callsOf("heartbeat").map(({ onCall }) => onCall?.room);
  expect(rooms).toEqual([1, 0]);
});

test("workers are alike whose queues, labels and groups are the same in any order", () => {
  const one = peersKey({ queues: ["a", "b"], labels: ["x", "y"] });
  expect(peersKey({ queues: ["b", "a"], labels: ["y", "x", "y"] })).toBe(one);
  const others = [
    { queues: ["a"], labels: ["x", "y"] },
    { queues: ["a", "b"], labels: ["x"] },
    { queues: ["a", "b"], labels: ["x", "y"], groups: ["x"] },
  ].map(peersKey);
  expect(new Set([one, ...others]).size).toBe(4);
});

test.each([
  { maxCost: 10 },
  { beforeClaim: () => ({}) },
  { backPressure: {} },
  { poll: {} },
  { whenIdle: ["b"] },
])("a worker that may leave a job though it has room has no peers: %o", (choosy) => {
  expect(peersKey({ queues: ["a", "b"], ...choosy })).toBeUndefined();
});

test("a beat that is answered after the end brings no duty back: nothing keeps the process alive", async () => {
  const { clock, deployment, loop, end } = await withDuty(ON_CALL);
  const beat = deployment.heartbeat.bind(deployment);
  let isLate = false;
  deployment.heartbeat = async (leases, options) => {
    const answer = await beat(leases, options);
    if (options?.leaving !== undefined) return answer;
    isLate = true;
    await new Promise<void>((resolve) => clock.after(5_000, resolve));
    return answer;
  };
  while (!isLate) await clock.advance(100);
  deployment.outrun = true;
  deployment.enqueue();
  loop.stop(0);
  await clock.advance(100);
  expect(end.value).toEqual({});
  await clock.advance(10_000);
  expect(clock.timers).toEqual([]);
});

import { expect, test } from "vitest";
import { createVirtualClock, type VirtualClock } from "../virtual/clock.js";
import { CLASS_LIMITS, limitsOf, parseClass } from "./classes.js";
import { PermitPool } from "./permits.js";

const MAX_WAIT_MS = 5000;

function makePool(limit: number): { clock: VirtualClock; pool: PermitPool; waits: number[] } {
  const clock = createVirtualClock({ seed: 1 });
  const waits: number[] = [];
  const onWait = (ms: number) => waits.push(ms);
  return {
    clock,
    waits,
    pool: new PermitPool(clock, { what: "tasks", limit, maxWaitMs: MAX_WAIT_MS, onWait }),
  };
}

test("a bounded number run at once, and the rest begin in the order they came, as soon as one ends", async () => {
  const { clock, pool, waits } = makePool(3);
  const begun: [task: number, at: number][] = [];
  const since = clock.now();
  let peak = 0;
  const task = (i: number) => async () => {
    begun.push([i, clock.now() - since]);
    peak = Math.max(peak, pool.running);
    await clock.sleep(100 * (i % 3) + 100);
  };
  await clock.run(() => Promise.all(Array.from({ length: 9 }, (_, i) => pool.run(task(i)))));
  expect(begun.map(([i]) => i)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(begun.map(([, at]) => at)).toEqual([0, 0, 0, 100, 200, 200, 300, 400, 400]);
  expect(peak).toBe(3);
  expect(waits).toHaveLength(6);
  expect(pool.running).toBe(0);
});

test("a call that has waited too long is refused with the limit and the status of a rate limit", async () => {
  const { clock, pool, waits } = makePool(1);
  const long = pool.run(() => clock.sleep(6000));
  const refused = pool.run(() => Promise.reject(new Error("It must not run.")));
  await clock.run(async () => {
    await expect(refused).rejects.toMatchObject({ status: 429, code: "TooManyConcurrentRequests" });
    await expect(refused).rejects.toThrow(
      /Too many concurrent requests.* limited to 1 concurrent tasks/,
    );
  });
  expect(waits).toEqual([MAX_WAIT_MS]);
  await clock.run(long);
  expect(pool.running).toBe(0);
});

test("a refused call leaves no gap in the line", async () => {
  const { clock, pool } = makePool(1);
  const order: string[] = [];
  await clock.run(async () => {
    const long = pool.run(() => clock.sleep(6000));
    const refused = pool.run(async () => void order.push("refused")).catch(() => {});
    await clock.sleep(2000);
    const later = pool.run(async () => void order.push("later"));
    await Promise.all([long, refused, later]);
  });
  expect(order).toEqual(["later"]);
  expect(pool.waiting).toBe(0);
});

test("the patient wait without bound, in the same line", async () => {
  const { clock, pool } = makePool(1);
  const order: string[] = [];
  await clock.run(async () => {
    const long = pool.run(() => clock.sleep(60_000));
    const patient = pool.run(async () => void order.push("patient"), { patient: true });
    await clock.sleep(59_000);
    const late = pool.run(async () => void order.push("late"));
    await Promise.all([long, patient, late]);
  });
  expect(order).toEqual(["patient", "late"]);
});

test("a permit comes back when the call that holds it fails", async () => {
  const { clock, pool } = makePool(1);
  await clock.run(async () => {
    await expect(pool.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await pool.run(async () => "yes")).toBe("yes");
  });
});

test("a permit is handed over: a call that comes in that moment does not get in between", async () => {
  const { clock, pool } = makePool(1);
  const order: string[] = [];
  await clock.run(async () => {
    const first = pool.run(() => clock.sleep(10));
    const second = pool.run(async () => void order.push("second"));
    await first;
    await Promise.all([second, pool.run(async () => void order.push("third"))]);
  });
  expect(order).toEqual(["second", "third"]);
});

test("classes have the platform's names, and an unknown name is refused with a list of them", () => {
  expect(["S16", "s256", "D1024"].map(parseClass)).toEqual(["s16", "s256", "d1024"]);
  expect(() => parseClass("S32")).toThrow('one of S16, S256, D1024, D2048, got "S32"');
});

test("a limit of a class can be replaced, by one that lets something run", () => {
  expect(limitsOf("d1024", { mutations: 3 })).toEqual({ ...CLASS_LIMITS.d1024, mutations: 3 });
  expect(() => limitsOf("s16", { queries: 0 })).toThrow(
    "classLimits.queries must be at least 1, got 0",
  );
  expect(() => limitsOf("s16", { queries: Number.NaN })).toThrow(/must be at least 1/);
});

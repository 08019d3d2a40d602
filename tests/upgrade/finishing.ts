/** A new worker that does all jobs that an earlier version has left, until no callback is owed. */
import { onlyForgets } from "../support/forgetting.js";
import { isFinished, type Status } from "../../src/shared/index.js";
import type { MemoryStore } from "../../local/store/memoryStore.js";
import type { World } from "../../local/virtual/world.js";
import { QUIET_LEASE_MS } from "./app.js";
import { rowsOf, tablesOf } from "./fixture.js";

const SESSION = "newcomer";
/** More than the longest lease that is never renewed, and the longest backoff of a callback on top. */
const WITHIN_MS = 3 * QUIET_LEASE_MS;
const STEP_MS = 20_000;

/** Returns the callbacks that the app has had in all, each as `id attempt`. */
export async function finishAll(
  world: World,
  store: MemoryStore,
  token: string,
): Promise<string[]> {
  const identity = { token, sessionKey: SESSION };
  const until = world.now() + WITHIN_MS;
  let n = 0;
  let jobs: { id: string; attempt: number }[] = [];
  while (!isOver(store, world.now())) {
    if (world.now() > until) throw new Error(`Not over: ${describe(store)}`);
    const claim = { queues: ["tiles", "quiet", "fragile"], max: 8 };
    const outcome = { kind: "succeeded", result: "done anew" };
    const finished = jobs.map(({ id, attempt }) => ({ id, attempt, outcome }));
    const reply = await (jobs.length === 0
      ? world.call("work:claim", { ...identity, name: SESSION, callSeq: ++n, ...claim })
      : world.call("work:complete", { ...identity, callSeq: ++n, finished, claim }));
    ({ jobs } = reply);
    if (jobs.length === 0) await world.advance(STEP_MS);
  }
  const tables = tablesOf(store);
  return rowsOf({ tables }, "told", "").map(({ job, attempt }) => `${job} ${attempt}`);
}

function isOver(store: MemoryStore, now: number): boolean {
  const tables = tablesOf(store);
  return (
    rowsOf({ tables }, "jobs").every(({ status }) => isFinished(status as Status)) &&
    rowsOf({ tables }, "callbacks").every(({ state }) => state === "dead") &&
    !rowsOf({ tables }, "timers").some(
      (timer) =>
        timer.kind === "janitor" && !onlyForgets(timer, rowsOf({ tables }, "sessions"), now),
    )
  );
}

function describe(store: MemoryStore): string {
  const tables = tablesOf(store);
  const left = {
    jobs: rowsOf({ tables }, "jobs").filter(({ status }) => !isFinished(status as Status)),
    callbacks: rowsOf({ tables }, "callbacks").filter(({ state }) => state !== "dead"),
    timers: rowsOf({ tables }, "timers").filter(({ kind }) => kind === "janitor"),
  };
  return JSON.stringify(left, (_, value) => (typeof value === "bigint" ? String(value) : value));
}

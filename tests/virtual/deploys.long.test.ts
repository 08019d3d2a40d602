/**
 * Deploys that give a queue a handler, another, or none, while its jobs wait and run, lanes scan, and processes are on their way:
 * no job fails that a lane or a worker outside can do, and none is stuck.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import type { QueueConfig } from "../../src/shared/index.js";
import { COMPONENT, Place } from "./declaredWorld.js";

let place: Place;
beforeEach(async () => {
  place = await Place.open();
});
afterEach(() => place.world.close());

/** Longer than a declaration stands. */
const SETTLED_MS = 10_500;

const KINDS = ["pull", "action", "mutation", "inline", "perJob"] as const;
type Kind = (typeof KINDS)[number];

async function configs(): Promise<Record<Kind, QueueConfig>> {
  const [action, mutation, inline] = [
    await place.declared("acted"),
    await place.declared("written"),
    await place.declared("inlined"),
  ];
  const { handler: _, push: __, result: ___, ...pull } = action;
  // An attempt that is lost is not to be hidden by another.
  const common = { ...pull, maxResets: 0, retry: { ...pull.retry!, maxAttempts: 1 } };
  return {
    pull: common,
    action: { ...common, push: true, handler: action.handler! },
    mutation: { ...common, push: true, handler: mutation.handler! },
    inline: { ...common, push: true, handler: inline.handler! },
    perJob: { ...common, push: true },
  };
}

const isServed = (kind: Kind) => kind === "pull" || kind === "perJob";

/** Each of them once, and back to where it began. Half of them have each kind at both ends of a change. */
const pairs = KINDS.flatMap((from, i) =>
  KINDS.slice(i + 1).map((to): [Kind, Kind] => [from, to]),
).filter(([from, to]) => counts((KINDS.indexOf(to) - KINDS.indexOf(from)) % 3 === 1, true));

/** The handle of another function of the same app. */
function named(handle: string, name: string): string {
  const [, encoded] = /^function:\/\/(.+)$/.exec(handle)!;
  const [app] = JSON.parse(Buffer.from(encoded!, "base64url").toString()) as [string, string];
  return `function://${Buffer.from(JSON.stringify([app, name])).toString("base64url")}`;
}

/** The one queue of the app that has an inline handler. */
const NAME = "inlined";

test.each(pairs)("from %s to %s, and back", async (from, to) => {
  const all = await configs();
  await place.world.advance(SETTLED_MS);
  const ids: string[] = [];
  const work = (count: number) => Array.from({ length: count }, (_, i) => ({ ms: 150 * (i % 5) }));
  for (const kind of [from, to, from]) {
    const queue = { name: NAME, config: all[kind] };
    ids.push(...(await place.enqueue(queue, work(12))));
    for (let passed = 0; passed < SETTLED_MS; passed += 700) {
      await place.world.advance(700);
      if (passed % 2_100 === 0) ids.push(...(await place.enqueue(queue, work(3))));
      if (isServed(kind)) await place.work(queue, 4);
    }
  }
  const last = { name: NAME, config: all[from] };
  for (let i = 0; i < 20; i += 1) {
    await place.world.advance(1_000);
    if (isServed(from)) await place.work(last, 16);
  }
  const ends = place.jobs(ids).map(({ status, error }) => error ?? status);
  expect([...new Set(ends)]).toEqual(["succeeded"]);
  const relied = place.rows<{ state: string }>("gates").filter(({ state }) => state !== "quiet");
  expect(relied).toEqual([]);
});

describe("a handler with a function that is gone", () => {
  /** As it stands between the deploy that takes the function away and the call that says so to the component. */
  const removed = (handle: string) => named(handle, "traced:removed");

  test.each(["action", "mutation", "inline"] as const)(
    "%s: the jobs wait for workers",
    async (kind) => {
      const all = await configs();
      const handler = { ...all[kind].handler!, handle: removed(all[kind].handler!.handle) };
      const before = { name: "deployed", config: { ...all[kind], handler } };
      const ids = await place.enqueue(before, [{}, {}, {}]);
      await place.world.advance(SETTLED_MS);
      const after = { name: "deployed", config: all.pull };
      for (let i = 0; i < 60; i += 1) {
        await place.world.advance(1_000);
        await place.work(after, 8);
      }
      const ends = place.jobs(ids).map(({ status, error }) => error ?? status);
      expect([...new Set(ends)]).toEqual(["succeeded"]);
    },
  );
});

const MISNAMED = ["traced:act", "hot:hear", "traced:write", "hot:nothing"];

test.each(MISNAMED.slice(0, counts(2, 4)))(
  "a queue with an ordinary action or mutation as its inline handler fails its first attempt, and shows it: %s",
  async (name) => {
    const all = await configs();
    const handler = { ...all.inline.handler!, handle: named(all.inline.handler!.handle, name) };
    const queue = { name: "misnamed", config: { ...all.inline, handler } };
    // No process is left in which its lane could run.
    await place.world.advance(SETTLED_MS);
    const [id] = await place.enqueue(queue, [{}]);
    await place.world.advance(30_000);
    const [job] = place.jobs([id!]);
    expect(job).toMatchObject({ status: "failed", attempt: 1 });
    expect(job!.error).toMatch(
      /^handlerMismatch: a job of the queue "misnamed" was given to (traced|hot)\S*, which is no inline action\. .*`misnamed\.inline\(…\)`/,
    );
    const look = (path: string) => place.world.call(path, { queue: "misnamed" }, COMPONENT);
    expect(await look("operate:events")).toContainEqual(
      expect.objectContaining({ kind: "handlerMismatch", details: { job: id, attempt: 1 } }),
    );
    expect(await look("observe:health")).toMatchObject({ light: "yellow" });
    const why = await place.world.call("observe:why", { id }, COMPONENT);
    expect(why).toMatchObject({ reasons: [{ kind: "handlerMismatch" }] });
  },
);

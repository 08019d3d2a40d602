/**
 * A busy quarter of an hour in virtual time that brings the component's rows into every state that they can have. It ends with a
 * call that leaves many outcomes owed: the moment to record comes after `atLast`, while their callbacks run.
 */
import type { World } from "../../local/virtual/world.js";
import { QUIET_LEASE_MS, TILES_LEASE_MS } from "./app.js";
import { ThenSession } from "./thenSession.js";

const LARGE = "x".repeat(600);
/** Ten tries with backoff take a quarter of an hour. */
const UNTIL_DEAD_MS = 20 * 60_000;
/** Long enough for a lease to end, and for the janitor to come. */
const LEASE_OVER_MS = TILES_LEASE_MS + 1_000;
const BEAT_MS = TILES_LEASE_MS / 4;

export async function live(world: World, atLast: () => void): Promise<ThenSession[]> {
  const token = async (name: string, queues: string[] | null) =>
    (await world.call("tokens:create", { name, queues })) as { id: string; token: string };
  const enqueue = (queue: string, payloads: unknown[]): Promise<string[]> =>
    world.call(`${queue}:enqueue`, { queue, payloads });
  const fleet = await token("fleet", null);
  const scoped = await token("tiles only", ["tiles"]);
  const revoked = await token("revoked", ["quiet"]);
  const sessions: ThenSession[] = [];
  const begin = (name: string, queue: string, { token } = fleet) => {
    const begun = new ThenSession(world, { sessionKey: name, token, queue });
    sessions.push(begun);
    return begun;
  };
  const one = (n: number) => [{ n }];

  // An outcome with a callback that has failed ten times, and one with the first of its ten tries behind it.
  await world.call("app:fail");
  const unlucky = begin("unlucky", "fragile");
  await enqueue("fragile", one(1));
  await unlucky.succeed(await unlucky.claimed(1), { n: 1, large: LARGE });
  await world.advance(UNTIL_DEAD_MS);
  await enqueue("fragile", [{ n: 2 }, { n: 3 }]);
  await unlucky.succeed(await unlucky.claimed(1), { n: 2, large: LARGE });
  await unlucky.fail(await unlucky.claimed(1));

  // Two that lost their workers once too often, and know it or not; `maxResets` is 1.
  const [twice] = await enqueue("tiles", [{ n: 10, large: LARGE }]);
  for (const name of ["gone-1", "gone-2"]) {
    const gone = begin(name, "tiles");
    await gone.beat(await gone.claimed(1));
    await world.advance(LEASE_OVER_MS);
  }
  const timedOut = await world.call("tiles:status", { id: twice });
  if (timedOut?.status !== "timedOut")
    throw new Error(`Not timed out: ${JSON.stringify(timedOut)}`);

  // Every way to finish, large and small.
  const worker = begin("worker", "tiles", scoped);
  const payload = (n: number) => ({ n, ...(n % 2 === 0 ? {} : { large: LARGE }) });
  await enqueue(
    "tiles",
    [...Array(5).keys()].map((n) => payload(20 + n)),
  );
  await worker.succeed(await worker.claimed(2), { n: 1n });
  await worker.succeed(await worker.claimed(1), { bytes: new ArrayBuffer(3), large: LARGE });
  await worker.fail(await worker.claimed(1));
  const again = await worker.claimed(1);
  await worker.succeed(again, { large: LARGE });

  // Jobs without a callback.
  const slow = begin("slow", "quiet");
  const stranded = begin("stranded", "quiet", revoked);
  await enqueue(
    "quiet",
    [...Array(6).keys()].map((n) => ({ n: 30 + n, large: LARGE })),
  );
  await slow.succeed(await slow.claimed(1), null);
  await slow.progress(await slow.claimed(1), { percent: 50 });
  await slow.claimed(1);
  await stranded.claimed(1);
  await world.call("tokens:revoke", { id: revoked.id });
  await world.advance(QUIET_LEASE_MS / 20);

  // A backlog in many shards, and leases that are held while other jobs end.
  const backlog = await enqueue(
    "tiles",
    [...Array(32).keys()].map((n) => payload(40 + n)),
  );
  const lost = begin("lost", "tiles");
  await lost.beat(await lost.claimed(1));
  const deaf = begin("deaf", "tiles");
  await deaf.claimed(1);
  const vanishing = begin("vanishing", "tiles");
  const mine = await vanishing.claimed(2);
  const busy = begin("busy", "tiles");
  const held = await busy.claimed(14);
  const idle = begin("idle", "tiles");
  const returned = await idle.claimed(1);
  for (let ms = 0; ms < LEASE_OVER_MS; ms += BEAT_MS) {
    await world.advance(BEAT_MS);
    await vanishing.beat(mine);
    await busy.beat(held);
    await idle.beat(returned);
  }

  // The ways back into the queue, for jobs that are not taken any more.
  await idle.release(returned);
  await world.call("tiles:retry", { id: again[0]!.id });
  for (const id of backlog.reverse()) {
    if ((await world.call("tiles:cancel", { id })).canceled) break;
  }

  // More outcomes at once than one call may tell.
  await busy.progress(held.slice(0, 1), { step: 1n });
  atLast();
  await busy.succeed(held.slice(2), { n: 2 }, { deferCallbacks: true });
  return sessions;
}

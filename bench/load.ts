/** Loads in virtual time, for any alternative: when callers come, and the answers to them. */
import { makeFunctionReference } from "convex/server";
import type { World } from "../local/virtual/world.js";

/**
 * How callers come: so many at the same instant; one every so many milliseconds; or so many per second on average, each
 * independent of the rest.
 */
export type Arrivals =
  { atOnce: number } | { everyMs: number; jobs: number } | { perSecond: number; seconds: number };

/** When each caller comes, from now. */
export function arrivals({ random }: World, load: Arrivals): number[] {
  if ("atOnce" in load) return Array.from({ length: load.atOnce }, () => 0);
  if ("everyMs" in load) return Array.from({ length: load.jobs }, (_, n) => n * load.everyMs);
  const times: number[] = [];
  for (let at = 0; ; times.push(at)) {
    at += (-Math.log(1 - random.next()) * 1_000) / load.perSecond;
    if (at > load.seconds * 1_000) return times;
  }
}

export interface Told {
  errors: string[];
  /** From call to answer, the network included. */
  callerMs: number[];
}

/** Calls a mutation once for each, at its time from now, and waits until all are answered. */
export async function callAll(
  world: World,
  mutation: string,
  calls: readonly { at: number; args: object }[],
  link = "callers",
): Promise<Told> {
  const client = world.httpClient(link);
  const reference = makeFunctionReference<"mutation">(mutation);
  const told: Told = { errors: [], callerMs: [] };
  const call = async ({ at, args }: (typeof calls)[number]): Promise<void> => {
    await world.clock.sleep(at);
    const from = world.now();
    try {
      await client.mutation(reference, { ...args }, { skipQueue: true });
    } catch (error) {
      told.errors.push(String(error));
    }
    told.callerMs.push(world.now() - from);
  };
  await world.run(Promise.all(calls.map(call)));
  return told;
}

/** So that a caller's own read takes about 5 ms: it finds nothing, in batches of 1, 2 and 4. */
const DEAD_PAGES = 6;

/** Rows for the callers' own reads to pass, all dead. */
export async function makeDeadPages(world: World): Promise<void> {
  await world.call("own:writePages", { pages: DEAD_PAGES });
  await world.call("own:deletePages");
}

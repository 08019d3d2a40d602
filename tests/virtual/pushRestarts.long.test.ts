/** The backend dies at each moment at which it makes a difference to a lane, in virtual time, and is there again a second later. */
import { afterEach, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import {
  HANDLER_ENDED,
  PROCESS_BEGINS,
  DRAINS_SOON,
  laneDrains,
  STEP_COMMITS,
  WAKE_COMMITS,
  type Moment,
} from "./pushMoments.js";
import { checkRest, enqueue, load, startPushWorld, type PushWorld } from "./pushWorld.js";

const CALM_MS = 600_000;
const MOMENTS: Readonly<Record<string, () => Moment>> = {
  "a wake commits": () => WAKE_COMMITS,
  "a process begins": () => PROCESS_BEGINS,
  "a lane's step commits": () => STEP_COMMITS,
  "a handler ends": () => HANDLER_ENDED,
  "a lane begins to drain": laneDrains,
};
const SHORT_LIVED = { maxParallelism: 3, ...DRAINS_SOON };

let pushed: PushWorld;
afterEach(async () => await pushed.world.close());

/** At each moment the backend dies before it is kept or just after; in the deep run both. */
const ALL = Object.entries(MOMENTS);
const at = (first: number) => ALL.filter((_, i) => counts(i % 2 === first, true));

test.each(at(0))(
  "when %s, so that this is lost: every job ends, and none runs too often",
  async (_name, momentOf) => {
    const moment = momentOf();
    pushed = await startPushWorld(10, SHORT_LIVED);
    const { store } = pushed;
    let isDead = false;
    store.diesBefore = (commit) => (isDead ||= moment(commit));
    await playUntil(() => isDead);
    store.diesBefore = () => false;
    await goOn();
  },
);

test.each(at(1))(
  "when %s, just after this is kept: every job ends, and none runs too often",
  async (_name, momentOf) => {
    const moment = momentOf();
    pushed = await startPushWorld(11, SHORT_LIVED);
    const { store } = pushed;
    let isDead = false;
    store.kept = (commit) => void (isDead ||= moment(commit));
    await playUntil(() => isDead);
    await goOn();
  },
);

/** More than one process does in its time. */
async function playUntil(isDead: () => boolean): Promise<void> {
  const { world } = pushed;
  load(pushed);
  const jobs = Array.from({ length: 60 }, (_, i) => ({ n: 50 + i, ms: 16_000 + 2_311 * (i % 5) }));
  void enqueue(world, "acted", jobs).catch(() => null);
  await world.until(isDead, { withinMs: 400_000, what: "that moment comes" });
}

async function goOn(): Promise<void> {
  const { world, store } = pushed;
  await world.restartBackend({ downMs: 1_000 });
  await world.advance(CALM_MS);
  await checkRest(pushed);
  expect(new Set(store.jobs().map(({ status }) => status))).toEqual(new Set(["succeeded"]));
}

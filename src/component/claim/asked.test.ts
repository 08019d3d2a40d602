/** The places that a claim sees of workers that stand by. */
import { expect, test, vi } from "vitest";
import { CALL_UP_ASKS, CALL_UP_MAX, STANDBY_FIRST } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import { newFleet } from "./fleets.test.js";

/** Of a fleet with a call-up of `count` workers this long ago. */
async function seen({ agoMs = 100, isOneOf = true, left = 100, draw = 0 }) {
  const { world, standby } = await newFleet(24);
  const peers = (await world.all("sessions"))[0]!.peers!;
  const now = Date.now();
  await world.t.run(({ db }) =>
    db.insert("callUps", { peers, upTo: 0, count: CALL_UP_MAX, at: now - agoMs }),
  );
  vi.setSystemTime(now);
  const look = { now, isOneOf, draw, left, atLeast: STANDBY_FIRST };
  const args = { peers, worker: "m10", ...look };
  const shown = await world.t.query(internal.claim.onCall.seePeers, args);
  return { ...shown, all: standby.map(({ since }) => since) };
}

test("one of the claims that make the next call-up sees all places that it calls", async () => {
  const { asks, places, all } = await seen({ draw: (CALL_UP_ASKS - 1) / CALL_UP_MAX });
  expect(asks).toBe(true);
  expect(places).toEqual(all);
});

test("any other claim of a burst sees the first places only, however many jobs it leaves", async () => {
  const { asks, places, all } = await seen({ draw: CALL_UP_ASKS / CALL_UP_MAX });
  expect(asks).toBe(false);
  expect(places).toEqual(all.slice(0, STANDBY_FIRST));
});

test("a claim that the last call-up did not call makes the next one, unless that was a moment ago", async () => {
  const own = { isOneOf: false, draw: 0.9 };
  expect(await seen(own)).toMatchObject({ asks: false });
  expect(await seen({ ...own, agoMs: 5_000 })).toMatchObject({ asks: true });
});

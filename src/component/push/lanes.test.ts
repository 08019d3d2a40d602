import { expect, test } from "vitest";
import type { DatabaseReader } from "../_generated/server.js";
import { asleepSince, type Lane, type Standing } from "./lanes.js";

/** Sessions by their ids: the state of each. */
const sessions: Record<string, { state: string }> = {
  slept: { state: "idle" },
  grown: { state: "idle" },
  working: { state: "active" },
};
const db = {
  get: async (_: string, id: string) => sessions[id] ?? null,
} as unknown as DatabaseReader;
const lane = (name: string, cap: number) => ({ _id: name, session: name, cap }) as unknown as Lane;
const seen = (name: string, cap: number) => ({ lane: name, session: name, cap });

test("lanes that sleep now, beside a snapshot: one that it shows awake, and one that it shows with an older cap", async () => {
  const lanes = [lane("known", 1), lane("slept", 1), lane("grown", 1), lane("working", 1)];
  const standing = { asleep: [seen("known", 1), seen("grown", 0)] } as unknown as Standing;
  const found = await asleepSince(db, lanes, standing);
  expect(found.map((one) => [one.lane, one.cap]).sort()).toEqual([
    ["grown", 1],
    ["slept", 1],
  ]);
});

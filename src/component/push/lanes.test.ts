import { expect, test } from "vitest";
import { withCaps, type Lane, type Sleeper } from "./lanes.js";

const lane = (name: string, cap: number) => ({ _id: name, session: name, cap }) as unknown as Lane;
const asleep = (name: string, cap: number) =>
  ({ lane: name, session: name, cap }) as unknown as Sleeper;

test("lanes that a snapshot shows asleep have their caps of now, and are awake or gone where they have more or no row", () => {
  const seen = [asleep("grown", 0), asleep("same", 1), asleep("shrunk", 1), asleep("woken", 1)];
  const lanes = [lane("woken", 4), lane("shrunk", 0), lane("same", 1), lane("grown", 1)];
  expect(withCaps([...seen, asleep("gone", 1)], lanes)).toEqual([
    asleep("grown", 1),
    asleep("same", 1),
    asleep("shrunk", 0),
  ]);
});

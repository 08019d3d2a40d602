/** Addresses and their places. */
import { expect, test } from "vitest";
import {
  jobPlace,
  overviewPlace,
  queuePlace,
  readPlace,
  USUAL_LOOK,
  workersPlace,
  writePlace,
  type Place,
} from "./places.js";

const PLACES: Place[] = [
  overviewPlace,
  workersPlace,
  queuePlace("tiles"),
  queuePlace("tiles", { tab: "events", per: "day", order: "next" }),
  queuePlace("tiles", { filter: { status: "timedOut", name: "a&b=c?d/e#f", worker: "anvil 1" } }),
  queuePlace("tiles", { filter: { tag: "customer:7", group: "größe%" } }),
  queuePlace("a/b?c#d%e"),
  jobPlace("a/b?c#d%e", "j1/../2"),
];

test.each(PLACES)("$kind is read as it was written, with any names", (place) => {
  expect(readPlace(writePlace(place))).toEqual(place);
});

test("defaults are left out of an address", () => {
  expect(writePlace(queuePlace("tiles"))).toBe("/queues/tiles");
  expect(readPlace("/queues/tiles")).toEqual(queuePlace("tiles", USUAL_LOOK));
  expect(writePlace(queuePlace("tiles", { filter: {} }))).toBe("/queues/tiles?status=any");
});

test("words that nothing has in an address are as if they were not there", () => {
  const strange = "/queues/tiles?status=broken&per=century&order=best&show=money&name=&x=1";
  expect(readPlace(strange)).toEqual(queuePlace("tiles"));
});

test.each(["/queue", "/queues", "/queues/tiles/jobs", "/queues/tiles/x/y", "/workers/1", "//x//y"])(
  "%s leads nowhere",
  (path) => expect(readPlace(path).kind).toBe("nowhere"),
);

test("a broken escape is taken as it stands", () => {
  expect(readPlace("/queues/%E0%A4%A")).toEqual(queuePlace("%E0%A4%A"));
});

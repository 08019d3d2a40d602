/** Random programs for random histories, shrinkable: the steps of several concurrent transactions. */
import fc from "fast-check";
import { TABLES, type Scan, type Step } from "./historyModel.js";

const table = fc.constantFrom(...TABLES);

const scan: fc.Arbitrary<Scan> = fc.record({
  // Mostly one table, so that transactions do conflict.
  table: fc.oneof(
    { weight: 3, arbitrary: fc.constant("t" as const) },
    { weight: 1, arbitrary: table },
  ),
  low: fc.integer({ min: 0, max: 6 }),
  high: fc.integer({ min: 3, max: 10 }),
  order: fc.constantFrom("asc", "desc"),
  limit: fc.integer({ min: 1, max: 4 }),
});

const value = fc.integer({ min: 0, max: 9 });

const plainStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("scan" as const), scan }),
  fc.record({ kind: fc.constant("stale" as const), scan }),
  fc.record({ kind: fc.constant("insert" as const), table, v: value }),
  fc.record({ kind: fc.constant("move" as const), scan, by: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant("bump" as const), scan }),
  fc.record({ kind: fc.constant("replace" as const), scan, v: value }),
  fc.record({ kind: fc.constant("remove" as const), scan }),
);

const nestedIn = (inner: fc.Arbitrary<Step>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant("nested" as const),
    fails: fc.boolean(),
    steps: fc.array(inner, { minLength: 1, maxLength: 3 }),
  });

const mostlyPlain = (nested: fc.Arbitrary<Step>): fc.Arbitrary<Step> =>
  fc.oneof({ weight: 5, arbitrary: plainStep }, { weight: 1, arbitrary: nested });

/** Two levels of calls inside calls. */
const step = mostlyPlain(nestedIn(mostlyPlain(nestedIn(plainStep))));

export const programs = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 6,
});

export const interleavings = fc.integer({ min: 0, max: 2 ** 31 - 1 });

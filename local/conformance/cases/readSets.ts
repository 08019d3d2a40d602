/** §1.2 and §1.3: the read set of a transaction, and the writes that conflict with it. */
import { expect } from "vitest";
import type { Read, Step } from "../app/convex/rows.js";
import { NO_CONFLICTS, refusal, type Case } from "../case.js";
import { conflicts, meet, passes } from "../overlap.js";

const read = (how?: Read["how"], more: Partial<Read> = {}): Read => ({
  op: "read",
  ...(how === undefined ? {} : { how }),
  ...more,
});
const insert = (n: number): Step => ({ op: "insert", n });
const patch = (at: number, value: { n?: number; label?: string; note?: unknown }): Step => ({
  op: "patch",
  at,
  value,
});
const remove = (at: number): Step => ({ op: "delete", at });
/** The rows of most cases, by `n`; steps name them by their place: 10 is row 0. */
const ROWS = [10, 20, 30, 40, 50];

type Verdict = "conflicts" | "passes";

function meeting(
  id: string,
  says: string,
  verdict: Verdict,
  reads: Step | Step[],
  writes: Step | Step[],
  rows = ROWS,
): Case {
  const both = { rows, reads: [reads].flat(), writes: [writes].flat() };
  return {
    id,
    says,
    convexTest: NO_CONFLICTS,
    run: (target) => (verdict === "conflicts" ? conflicts(target, both) : passes(target, both)),
  };
}

export const readSets: Case[] = [
  meeting(
    "1.2.get-found",
    "db.get depends on the document",
    "conflicts",
    { op: "get", at: 0 },
    patch(0, { n: 11 }),
  ),
  meeting("1.2.get-other", "db.get depends on no other document", "passes", { op: "get", at: 0 }, [
    patch(1, { n: 21 }),
    insert(15),
  ]),
  meeting(
    "1.2.get-deleted",
    "db.get conflicts with a delete of its document",
    "conflicts",
    { op: "get", at: 0 },
    remove(0),
  ),
  meeting(
    "1.2.collect-insert",
    "collect depends on its whole range: an insert into it conflicts",
    "conflicts",
    read(),
    insert(99),
  ),
  meeting(
    "1.2.collect-range-outside",
    "a bounded range does not depend on rows outside",
    "passes",
    read("collect", { gte: 20, lt: 40 }),
    [insert(40), insert(19)],
  ),
  meeting(
    "1.2.collect-range-bound",
    "an included bound belongs to the range",
    "conflicts",
    read("collect", { gte: 20, lte: 40 }),
    insert(40),
  ),
  meeting(
    "1.2.collect-range-open-bound",
    "an excluded bound does not",
    "passes",
    read("collect", { gt: 20, lt: 40 }),
    [insert(20), insert(40)],
  ),
  meeting(
    "1.2.collect-empty",
    "an empty range is depended on as well",
    "conflicts",
    read("collect", { gte: 60, lt: 70 }),
    insert(65),
  ),
  meeting(
    "1.2.collect-equal",
    "an equality is a range of its own",
    "passes",
    read("collect", { eq: 20 }),
    [insert(21), patch(0, { n: 11 })],
  ),
  meeting(
    "1.2.take-satisfied",
    "take(n) that found its n rows does not depend on rows that follow",
    "passes",
    read({ take: 2 }),
    insert(25),
  ),
  meeting(
    "1.2.take-inside",
    "take(n) depends on everything up to the nth row",
    "conflicts",
    read({ take: 2 }),
    insert(15),
  ),
  meeting(
    "1.2.take-nth",
    "the nth row itself is depended on",
    "conflicts",
    read({ take: 2 }),
    patch(1, { note: 1 }),
  ),
  meeting(
    "1.2.take-short",
    "take(n) that found fewer depends on the whole range",
    "conflicts",
    read({ take: 9 }),
    insert(99),
  ),
  meeting(
    "1.2.take-exact",
    "take(n) of exactly n rows is satisfied: it does not scan for one more",
    "passes",
    read({ take: 5 }),
    insert(99),
  ),
  meeting(
    "1.2.take-desc-satisfied",
    "take(n) downwards ends at its nth row from above",
    "passes",
    read({ take: 2 }, { order: "desc" }),
    insert(35),
  ),
  meeting(
    "1.2.take-desc-inside",
    "take(n) downwards depends on everything above its nth row",
    "conflicts",
    read({ take: 2 }, { order: "desc" }),
    insert(45),
  ),
  meeting(
    "1.2.take-desc-beyond",
    "and so on inserts at the upper end",
    "conflicts",
    read({ take: 1 }, { order: "desc" }),
    insert(99),
  ),
  meeting(
    "1.2.first-satisfied",
    "first() that found a row depends on nothing behind it",
    "passes",
    read("first"),
    insert(11),
  ),
  meeting(
    "1.2.first-before",
    "first() depends on inserts before its row",
    "conflicts",
    read("first"),
    insert(5),
  ),
  meeting(
    "1.2.first-empty",
    "first() that found nothing depends on the whole range",
    "conflicts",
    read("first", { gt: 60 }),
    insert(99),
  ),
  {
    id: "1.2.unique-one",
    says: "unique() with one match scans for a second: it depends on the whole range",
    convexTest: NO_CONFLICTS,
    // A second attempt finds both rows, and fails.
    run: async (target) =>
      expect(
        await refusal(
          meet(target, {
            rows: ROWS,
            reads: [read("unique", { gte: 50 })],
            writes: [insert(60)],
          }),
        ),
      ).toContain("unique() query returned more than one result"),
  },
  meeting(
    "1.2.iterate-left",
    "a loop that is left depends on the rows it was given, and no more",
    "passes",
    read({ iterate: 2 }),
    insert(25),
  ),
  meeting(
    "1.2.iterate-inside",
    "and on everything between them",
    "conflicts",
    read({ iterate: 2 }),
    insert(15),
  ),
  meeting(
    "1.2.filter-out",
    "a row that a filter left out is depended on",
    "conflicts",
    read("collect", { filter: 20 }),
    patch(3, { note: 1 }),
  ),
  meeting(
    "1.2.filter-first",
    "a filtered first() depends on the rows it passed, and on nothing behind its match",
    "passes",
    read("first", { filter: 20 }),
    insert(35),
  ),
  meeting(
    "1.2.page-satisfied",
    "a page depends on nothing behind its last row",
    "passes",
    read({ page: 2, cursor: null }),
    insert(25),
  ),
  meeting(
    "1.2.page-inside",
    "a page depends on everything up to its last row",
    "conflicts",
    read({ page: 2, cursor: null }),
    insert(15),
  ),
  meeting(
    "1.2.page-done",
    "the last page depends on the end of the range",
    "conflicts",
    read({ page: 9, cursor: null }),
    insert(99),
  ),
  meeting(
    "1.2.full-scan",
    "a full table scan depends on the whole table",
    "conflicts",
    { op: "scan", take: 1000 },
    { op: "insertScanned", n: 1 },
  ),
  meeting(
    "1.2.other-index",
    "a read by one index conflicts with a write that changes another index's field",
    "conflicts",
    read("collect", { index: "by_label", eq: "row 20" }),
    patch(1, { n: 21 }),
  ),
  meeting(
    "1.2.index-value-apart",
    "equal values of one index only: rows with other labels are no dependency",
    "passes",
    read("collect", { index: "by_label", eq: "row 20" }),
    [patch(0, { n: 11 }), { op: "insert", n: 20, label: "else" }],
  ),

  meeting(
    "1.3.unrelated-field",
    "a patch of a field that no index holds conflicts with a range read of the row",
    "conflicts",
    read({ take: 2 }),
    patch(0, { note: "changed" }),
  ),
  meeting(
    "1.3.move-out",
    "a row that moves out of a read range conflicts",
    "conflicts",
    read("collect", { gte: 20, lt: 30 }),
    patch(1, { n: 99 }),
  ),
  meeting(
    "1.3.move-in",
    "a row that moves into a read range conflicts",
    "conflicts",
    read("collect", { gte: 20, lt: 30 }),
    patch(4, { n: 25 }),
  ),
  meeting(
    "1.3.delete-inside",
    "a delete in a read range conflicts",
    "conflicts",
    read("collect", { gte: 20, lt: 30 }),
    remove(1),
  ),
  meeting(
    "1.3.delete-outside",
    "a delete outside of it does not",
    "passes",
    read("collect", { gte: 20, lt: 30 }),
    remove(2),
  ),
  meeting(
    "1.3.replace-inside",
    "a replace in a read range conflicts",
    "conflicts",
    read("collect", { lt: 15 }),
    { op: "replace", at: 0, value: { n: 10, label: "new" } },
  ),
  meeting(
    "1.3.insert-insert",
    "two inserts into one table do not conflict",
    "passes",
    insert(1),
    insert(1),
  ),
  meeting(
    "1.3.insert-blind",
    "an insert depends on nothing: not on equal rows that come in",
    "passes",
    [insert(1), insert(2)],
    [insert(1), patch(0, { n: 1 }), remove(1)],
  ),
  meeting(
    "1.3.patch-patch",
    "two patches of one document conflict, also of different fields",
    "conflicts",
    patch(0, { note: 1 }),
    patch(0, { label: "x" }),
  ),
  meeting(
    "1.3.replace-replace",
    "two replaces of one document conflict: there is no blind write",
    "conflicts",
    { op: "replace", at: 0, value: { n: 1 } },
    { op: "replace", at: 0, value: { n: 2 } },
  ),
  meeting(
    "1.3.patch-others",
    "patches of different documents do not conflict",
    "passes",
    patch(0, { note: 1 }),
    patch(1, { note: 1 }),
  ),
  meeting(
    "1.3.patch-delete",
    "a delete conflicts with a patch of the same document",
    "conflicts",
    remove(0),
    patch(0, { note: 1 }),
  ),
  meeting(
    "1.3.same-patch",
    "a patch that changes nothing is no write: it conflicts with no read",
    "passes",
    read(),
    patch(0, { n: 10 }),
  ),
  meeting("1.3.same-replace", "nor is a replace by an equal document", "passes", read(), {
    op: "replace",
    at: 0,
    value: { n: 10, label: "row 10" },
  }),
  meeting(
    "1.3.same-patch-reads",
    "but it has read the document",
    "conflicts",
    patch(0, { n: 10 }),
    patch(0, { n: 11 }),
  ),
  meeting(
    "1.3.undone-insert",
    "an insert that a failed nested call took back conflicts with no read",
    "passes",
    read("collect", { gte: 60 }),
    { op: "nested", steps: [insert(70)], fails: true },
  ),
];

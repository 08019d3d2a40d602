/** §2: deleted rows cost no documents, and a cursor by commit timestamp reads every row once. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Read, Step } from "../app/convex/rows.js";
import { newGroup, type Case } from "../case.js";

const all: Read = { op: "read" };

export const retention: Case[] = [
  {
    id: "2.deleted-not-charged",
    says: "rows that were deleted are not counted as read",
    run: async (target) => {
      const group = newGroup();
      const ns = Array.from({ length: 40 }, (_, n) => n);
      const ids = await target.mutation(api.rows.seed, { group, ns });
      const removing: Step[] = ns.slice(1).map((at) => ({ op: "delete", at }));
      await target.mutation(api.rows.only, { group, ids, steps: removing });
      const steps: Step[] = [all, { op: "metrics" }];
      const [seen, metrics] = (await target.mutation(api.rows.only, { group, ids, steps })) as [
        number[],
        { documentsRead: { used: number } },
      ];
      expect(seen).toEqual([0]);
      expect(metrics.documentsRead.used).toBe(1);
    },
  },
  {
    id: "2.cursor-by-commit",
    says: "a reader that goes on from its snapshot's timestamp gets every row once, with any number of writers",
    run: async (target) => {
      const group = newGroup();
      const met: number[] = [];
      let after = 0n;
      let written = false;
      const look = async () => {
        const { ns, cursor } = await target.mutation(api.stamps.since, { group, after });
        met.push(...ns);
        after = cursor;
      };
      const writing = Promise.all(
        [0, 1, 2, 3].map(async (writer) => {
          for (let i = 0; i < 6; i++) {
            await target.mutation(api.stamps.add, { group, ns: [writer * 10 + i] });
          }
        }),
      ).finally(() => (written = true));
      while (!written) await look();
      await writing;
      await look();
      const expected = [0, 1, 2, 3].flatMap((writer) =>
        [0, 1, 2, 3, 4, 5].map((i) => writer * 10 + i),
      );
      expect(met.sort((a, b) => a - b)).toEqual(expected);
    },
  },
];

// @vitest-environment jsdom
/**
 * `usePaginatedQuery` in a page: after any writes while pages are shown, they are the first rows of the table, each
 * once and none left out, in every state that the page renders.
 */
import { act, cleanup, render, waitFor } from "@testing-library/react";
import { ConvexProvider, ConvexReactClient, usePaginatedQuery, useQuery } from "convex/react";
import { anyApi } from "convex/server";
import { useEffect } from "react";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startBackend, type Backend } from "../backend.js";
import { pushFixture } from "../push/testing.js";

const PAGES = `
  import { paginationOptsValidator } from "convex/server";
  import { v } from "convex/values";
  import { mutation, query } from "./_generated/server";

  const shown = (q: any) => q.neq(q.field("body"), "hidden");
  const inOrder = (ctx: any) =>
    ctx.db.query("messages").withIndex("by_author").order("asc").filter(shown);

  export const page = query({
    args: { paginationOpts: paginationOptsValidator, maximumRowsRead: v.optional(v.number()) },
    handler: (ctx, { paginationOpts, ...limit }) => inOrder(ctx).paginate({ ...paginationOpts, ...limit }),
  });
  export const all = query({ args: {}, handler: (ctx) => inOrder(ctx).collect() });
  export const write = mutation({
    args: { insert: v.array(v.string()), remove: v.array(v.string()), body: v.string() },
    handler: async (ctx, { insert, remove, body }) => {
      for (const author of insert) await ctx.db.insert("messages", { author, body });
      for (const author of remove)
        for (const { _id } of await ctx.db.query("messages").withIndex("by_author", (q) => q.eq("author", author)).collect())
          await ctx.db.delete("messages", _id);
    },
  });
`;
const { page, all } = anyApi["pages"] as Record<string, any>;

let backend: Backend;
let client: ConvexReactClient;
let rows: Set<string>;

/** The statuses of the pages that the server sent. */
const statuses = new Set<string>();
class ListeningSocket extends WebSocket {
  constructor(url: string) {
    super(url);
    this.on("message", (data: Buffer) => {
      for (const [, status] of data.toString().matchAll(/"pageStatus":"(\w+)"/g))
        statuses.add(status!);
    });
  }
}

beforeAll(async () => {
  backend = await startBackend({ quiet: true });
  await pushFixture(backend, { "convex/pages.ts": PAGES });
});
beforeEach(() => {
  client = new ConvexReactClient(backend.url, {
    webSocketConstructor: ListeningSocket as unknown as typeof globalThis.WebSocket,
    unsavedChangesWarning: false,
    logger: false,
  });
  statuses.clear();
  rows = new Set();
  wrong = [];
});
afterEach(async () => {
  cleanup();
  await change({ remove: [...rows] });
  await client.close();
});
afterAll(() => backend.close());

type Row = { author: string };
interface Shown {
  results: string[];
  status: string;
  loadMore: (count: number) => void;
}

let shown: Shown;
/** States that must not be: the shown rows beside the table's rows in that state. */
let wrong: { results: string[]; held: string[] }[] = [];

function Pages({ size, maximumRowsRead }: { size: number; maximumRowsRead?: number }) {
  const args = maximumRowsRead === undefined ? {} : { maximumRowsRead };
  const pages = usePaginatedQuery(page, args, { initialNumItems: size });
  const table = useQuery(all) as Row[] | undefined;
  useEffect(() => {
    const results = pages.results.map(({ author }: Row) => author);
    shown = { ...pages, results };
    const held = table?.map(({ author }) => author);
    if (held && results.join() !== held.slice(0, results.length).join())
      wrong.push({ results, held });
  });
  return null;
}

function show(size: number, maximumRowsRead?: number): void {
  const limit = maximumRowsRead === undefined ? {} : { maximumRowsRead };
  render(
    <ConvexProvider client={client}>
      <Pages size={size} {...limit} />
    </ConvexProvider>,
  );
}

/** All in one commit, behind the client's back: it works while the client has no connection too. */
async function change(rowsOf: { insert?: string[]; remove?: string[] }, body = ""): Promise<void> {
  const { insert = [], remove = [] } = rowsOf;
  for (const author of insert) rows.add(author);
  for (const author of remove) rows.delete(author);
  const address = { namespace: "", path: "pages:write" };
  const caller = { identity: { kind: "none" }, publicOnly: true, requestId: "r" } as const;
  const done = await backend.runner.mutation(address, { insert, remove, body }, caller);
  expect(done).toMatchObject({ ok: true });
}

/** Names in order: `row(2)` comes between `row(1.5)` and `row(3)`. */
const row = (at: number) => `row ${at.toFixed(2).padStart(6, "0")}`;
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => row(from + index));

async function expectShown(expected: string[], status: string): Promise<void> {
  await waitFor(() => expect([shown.status, ...shown.results]).toEqual([status, ...expected]), {
    timeout: 20_000,
  });
  expect(wrong).toEqual([]);
}

test("pages follow rows that come and go before, inside, between and after them", async () => {
  await change({ insert: range(1, 12) });
  show(4);
  await expectShown(range(1, 4), "CanLoadMore");
  act(() => shown.loadMore(4));
  await expectShown(range(1, 8), "CanLoadMore");
  // Before all, in the first page, on the border of the two, in the second; and behind both, which shows nothing.
  await change({ insert: [row(0), row(2.5), row(4.5), row(7.5), row(8.5), row(20)] });
  const grown = [
    row(0),
    row(1),
    row(2),
    row(2.5),
    row(3),
    row(4),
    row(4.5),
    ...range(5, 7),
    row(7.5),
    row(8),
  ];
  await expectShown(grown, "CanLoadMore");
  // The rows at which the pages end go too.
  await change({ remove: [row(0), row(4), row(5), row(8), row(8.5)] });
  const left = grown.filter((name) => ![row(0), row(4), row(5), row(8)].includes(name));
  await expectShown(left, "CanLoadMore");
  act(() => shown.loadMore(100));
  await expectShown([...left, ...range(9, 12), row(20)], "Exhausted");
  await change({ insert: [row(30)], remove: [row(9)] });
  await expectShown([...left, ...range(10, 12), row(20), row(30)], "Exhausted");
});

test("a page that has grown to more than twice its size is cut in two, and nothing is lost at the cut", async () => {
  await change({ insert: [...range(1, 3), ...range(50, 60)] });
  show(3);
  await expectShown(range(1, 3), "CanLoadMore");
  act(() => shown.loadMore(3));
  await expectShown([...range(1, 3), ...range(50, 52)], "CanLoadMore");
  await change({ insert: range(4, 20) });
  await expectShown([...range(1, 20), ...range(50, 52)], "CanLoadMore");
  await change({ insert: [row(9.5)], remove: [row(10), row(11), row(12)] });
  const all = [...range(1, 9), row(9.5), ...range(13, 20), ...range(50, 52)];
  await expectShown(all, "CanLoadMore");
});

test("a page that comes near to its limits on reads is cut in two, as the server recommends", async () => {
  await change({ insert: range(1, 12) });
  show(4, 5);
  await expectShown(range(1, 4), "CanLoadMore");
  expect([...statuses]).toEqual(["SplitRecommended"]);
  await change({ insert: [row(1.5), row(2.5)], remove: [row(2)] });
  await expectShown([row(1), row(1.5), row(2.5), row(3), row(4)], "CanLoadMore");
});

test("a page that may read too little for its size is split until all of it is there", async () => {
  await change({ insert: range(1, 30) }, "hidden");
  await change({ insert: [row(0), row(10.5), row(20.5), ...range(31, 33)] });
  show(3, 4);
  const seen = [row(0), row(10.5), row(20.5)];
  // Each page reads four rows at most, and may find fewer: there is more to load until the end.
  for (let pages = 0; pages < 30 && shown?.status !== "Exhausted"; pages++) {
    await waitFor(() => expect(shown.status).toMatch(/CanLoadMore|Exhausted/), { timeout: 20_000 });
    if (shown.status === "CanLoadMore") act(() => shown.loadMore(3));
  }
  await expectShown([...seen, ...range(31, 33)], "Exhausted");
  expect(statuses).toContain("SplitRequired");
  await change({ insert: [row(5.5), row(31.5)], remove: [row(10.5)] });
  await expectShown(
    [row(0), row(5.5), row(20.5), row(31), row(31.5), row(32), row(33)],
    "Exhausted",
  );
});

test("after a lost connection the pages are where they were, with the writes of the meantime", async () => {
  await change({ insert: range(1, 12) });
  show(3);
  await expectShown(range(1, 3), "CanLoadMore");
  act(() => shown.loadMore(3));
  await expectShown(range(1, 6), "CanLoadMore");
  backend.dropConnections();
  await change({ insert: [row(1.5), row(3.5)], remove: [row(3), row(6)] });
  // As many as are between the pages' ends, and not as many as a page had at first.
  const now = [row(1), row(1.5), row(2), row(3.5), row(4), row(5)];
  await expectShown(now, "CanLoadMore");
  act(() => shown.loadMore(2));
  await expectShown([...now, row(7), row(8)], "CanLoadMore");
});

/** The hooks that follow pages, against a real client and a scripted backend. */
import { screen, waitFor } from "@testing-library/react";
import { ConvexError } from "convex/values";
import { anyApi, type FunctionReference, type PaginationOptions } from "convex/server";
import { Component, type ReactNode } from "react";
import { expect, expectTypeOf, test, vi } from "vitest";
import { withBackend } from "../dashboard/testing/show.js";
import { periodOf, rowOf, T0 } from "../dashboard/testing/fixtures.js";
import type {
  Gauge,
  LogEntry,
  LogPage,
  ListRequest,
  OutputPage,
  StatsRequest,
} from "../shared/index.js";
import {
  CalmQueries,
  useJobLogs,
  useJobOutput,
  useJobs,
  useQueueStats,
  type ListedJob,
  type QueueStats,
  type Stats,
} from "./index.js";

const world = withBackend();

type Q<Args extends Record<string, unknown>, Returns> = FunctionReference<
  "query",
  "public",
  Args,
  Returns
>;
const builds = anyApi["builds"] as unknown as {
  logs: Q<{ id: string; cursor?: string; limit?: number }, LogPage | null>;
  output: Q<{ id: string; attempt?: number; cursor?: string; limit?: number }, OutputPage | null>;
  list: Q<
    ListRequest<"builds" | "tiles"> & { paginationOpts: PaginationOptions },
    { page: (Listed | ListedJob<"tiles">)[]; isDone: boolean; continueCursor: string }
  >;
  stats: Q<{ queue: "builds" } & StatsRequest, QueueStats>;
};
type Listed = ListedJob<"builds">;

const asked = (path: string) => world.backend.asked.filter((one) => one.path === path);

// --- Logs ---------------------------------------------------------------------------------------

const entryOf = (entry: number, attempt = 1): LogEntry => ({
  ...{ attempt, entry, level: "info", message: `${attempt}.${entry}`, at: T0 },
});

/** A log as the component pages it: a cursor is the last entry that was read. */
function serveLog(log: LogEntry[]) {
  world.backend.queries["builds:logs"] = ({ cursor, limit }) => {
    const from = cursor === undefined ? -1 : log.findIndex(({ message }) => message === cursor);
    const entries = log.slice(from + 1, from + 1 + (limit as number));
    const isDone = from + 1 + entries.length === log.length;
    return { entries, cursor: entries.at(-1)?.message ?? cursor ?? "", isDone };
  };
}

function Log({ id = "j" }: { id?: string }) {
  const log = useJobLogs(builds, id);
  if (log === undefined) return <p>loading</p>;
  if (log === null) return <p>unknown</p>;
  return (
    <p aria-label="log" aria-busy={log.isLoading}>
      {log.entries.map(({ message }) => message).join(" ")}
    </p>
  );
}

const logText = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `1.${from + n}`).join(" ");

test("a log of many pages is all there, each entry once, and its tail is followed", async () => {
  const log = Array.from({ length: 450 }, (_, n) => entryOf(n));
  serveLog(log);
  world.show(<Log />);
  const shown = await screen.findByLabelText("log");
  await waitFor(() => expect(shown.textContent).toBe(logText(0, 450)));
  expect(shown.getAttribute("aria-busy")).toBe("false");
  expect(asked("builds:logs")).toHaveLength(3);
  log.push(entryOf(450));
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe(logText(0, 451)));
});

test("a page that fills up is left, and the next one begins behind it", async () => {
  const log = Array.from({ length: 199 }, (_, n) => entryOf(n));
  serveLog(log);
  world.show(<Log />);
  const shown = await screen.findByLabelText("log");
  for (let n = 199; n < 203; n += 1) {
    log.push(entryOf(n));
    world.backend.tell();
    await waitFor(() => expect(shown.textContent).toBe(logText(0, n + 1)));
  }
  expect(asked("builds:logs")).toHaveLength(2);
});

test("where the oldest entries of a long log are dropped, none is twice and none is missing", async () => {
  const log = Array.from({ length: 410 }, (_, n) => entryOf(n));
  serveLog(log);
  world.show(<Log />);
  const shown = await screen.findByLabelText("log");
  await waitFor(() => expect(shown.textContent).toBe(logText(0, 410)));
  log.splice(0, 50);
  log.push(entryOf(410));
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe(logText(50, 411)));
});

test("entries of a new attempt come after the entries of the previous attempt", async () => {
  const log = [entryOf(0), entryOf(1)];
  serveLog(log);
  world.show(<Log />);
  const shown = await screen.findByLabelText("log");
  log.push(entryOf(0, 2));
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe("1.0 1.1 2.0"));
});

test("another job's log begins anew, and nothing is asked while there is no id", async () => {
  world.backend.queries["builds:logs"] = ({ id }) =>
    id === "none" ? null : { entries: [entryOf(id === "a" ? 1 : 2)], cursor: "c", isDone: true };
  const { rerender } = world.show(<Log id="a" />);
  const within = (id: string) => rerender(world.wrapped(<Log id={id} />));
  await waitFor(() => expect(screen.getByLabelText("log").textContent).toBe("1.1"));
  within("b");
  await waitFor(() => expect(screen.getByLabelText("log").textContent).toBe("1.2"));
  within("none");
  expect(await screen.findByText("unknown")).toBeTruthy();
  within("skip");
  expect(await screen.findByText("loading")).toBeTruthy();
  await waitFor(() => expect(asked("builds:logs")).toEqual([]));
});

class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError = (error: Error) => ({ error });
  override render() {
    return this.state.error ? <p>refused: {this.state.error.message}</p> : this.props.children;
  }
}

test("an error of the app's authorize is thrown while rendering", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  world.backend.queries["builds:logs"] = () => {
    throw new ConvexError("Not you.");
  };
  world.show(
    <Boundary>
      <Log />
    </Boundary>,
  );
  expect(await screen.findByText(/refused: .*Not you/)).toBeTruthy();
});

// --- Output -------------------------------------------------------------------------------------

/** Output as the component pages it: a cursor names an attempt and the last index that was read. */
function serveOutput(job: { attempt: number; isOver: boolean; texts: Record<number, string[]> }) {
  world.backend.queries["builds:output"] = ({ cursor, limit, attempt: wanted }) => {
    if (cursor !== undefined && wanted !== undefined) throw new Error("A cursor has its attempt.");
    const [attempt, after] = (
      cursor === undefined ? [wanted ?? job.attempt, -1] : JSON.parse(cursor as string)
    ) as [number, number];
    const all = (job.texts[attempt] ?? []).map((text, index) => ({ index, text }));
    const behind = all.filter(({ index }) => index > after);
    const parts = behind.slice(0, limit as number);
    return {
      ...{ attempt, lastAttempt: job.attempt, parts },
      cursor: JSON.stringify([attempt, parts.at(-1)?.index ?? after]),
      isDone: (attempt < job.attempt || job.isOver) && parts.length === behind.length,
    };
  };
}

function Output({ attempt }: { attempt?: number }) {
  const output = useJobOutput(builds, "j", attempt === undefined ? {} : { attempt });
  if (!output) return <p>loading</p>;
  return (
    <p aria-label="output" aria-busy={!output.isDone} title={`${output.attempt}`}>
      {output.text}
    </p>
  );
}

const letters = (count: number) => Array.from({ length: count }, (_, n) => `${n}.`);

test("output of many pages is one text, and grows as it is written", async () => {
  const job = { attempt: 1, isOver: false, texts: { 1: letters(501) } };
  serveOutput(job);
  world.show(<Output />);
  const shown = await screen.findByLabelText("output");
  await waitFor(() => expect(shown.textContent).toBe(letters(501).join("")));
  expect(shown.getAttribute("aria-busy")).toBe("true");
  job.texts[1].push("end");
  job.isOver = true;
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe(`${letters(501).join("")}end`));
  expect(shown.getAttribute("aria-busy")).toBe("false");
});

test("when a new attempt begins, the text begins anew, however many pages the old one had", async () => {
  const job: Parameters<typeof serveOutput>[0] = {
    ...{ attempt: 1, isOver: false, texts: { 1: letters(450) } },
  };
  serveOutput(job);
  world.show(<Output />);
  const shown = await screen.findByLabelText("output");
  await waitFor(() => expect(shown.textContent).toBe(letters(450).join("")));
  job.attempt = 2;
  job.texts[2] = ["again "];
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe("again "));
  expect(shown.title).toBe("2");
  await waitFor(() => expect(asked("builds:output")).toHaveLength(1));
  job.texts[2].push("and on");
  world.backend.tell();
  await waitFor(() => expect(shown.textContent).toBe("again and on"));
});

test("the output of an earlier attempt stays unchanged", async () => {
  const job = { attempt: 2, isOver: false, texts: { 1: ["first"], 2: ["second"] } };
  serveOutput(job);
  world.show(<Output attempt={1} />);
  const shown = await screen.findByLabelText("output");
  expect(shown.textContent).toBe("first");
  expect(shown.getAttribute("aria-busy")).toBe("false");
});

test("an earlier attempt is there to its end, however many pages it had", async () => {
  serveOutput({ attempt: 2, isOver: false, texts: { 1: letters(450), 2: ["second"] } });
  world.show(<Output attempt={1} />);
  const shown = await screen.findByLabelText("output");
  await waitFor(() => expect(shown.textContent).toBe(letters(450).join("")));
  await waitFor(() => expect(shown.getAttribute("aria-busy")).toBe("false"));
});

test("a page of large pieces is left before a piece may not have fitted", async () => {
  const piece = "x".repeat(60_000);
  const job = { attempt: 1, isOver: true, texts: { 1: Array.from({ length: 90 }, () => piece) } };
  serveOutput(job);
  world.show(<Output />);
  const shown = await screen.findByLabelText("output");
  await waitFor(() => expect(shown.textContent).toHaveLength(90 * 60_000));
  await waitFor(() => expect(asked("builds:output").length).toBeGreaterThan(1));
});

// --- Lists and statistics -----------------------------------------------------------------------

/** Jobs by a number that is their place: a cursor is the last number that was read. */
function serveList(numbers: number[]) {
  world.backend.queries["builds:list"] = ({ paginationOpts }) => {
    const { cursor, endCursor, numItems } = paginationOpts as PaginationOptions & {
      endCursor?: string;
    };
    const behind = numbers.filter((n) => cursor === null || n > Number(cursor));
    const upTo = endCursor === undefined ? Infinity : Number(endCursor);
    const page = (endCursor === undefined ? behind.slice(0, numItems) : behind).filter(
      (n) => n <= upTo,
    );
    return {
      page: page.map((n) => rowOf(`${n}`)),
      isDone: endCursor === undefined && page.length === behind.length,
      continueCursor: endCursor ?? `${page.at(-1) ?? cursor ?? 0}`,
    };
  };
}

function List() {
  const { results, status, loadMore } = useJobs(
    builds,
    { queue: "builds", filter: { status: "failed" } },
    { pageSize: 3 },
  );
  expectTypeOf(results).toEqualTypeOf<Listed[]>();
  return (
    <button aria-label={status} onClick={() => loadMore(3)}>
      {results.map(({ id }) => id).join(" ")}
    </button>
  );
}

// Shows K4.
test("between two pages of a list nothing is missing and nothing twice, while jobs come and go", async () => {
  const numbers = [10, 20, 30, 40, 50, 60, 70];
  serveList(numbers);
  world.show(<List />);
  const more = await screen.findByLabelText("CanLoadMore");
  expect(more.textContent).toBe("10 20 30");
  more.click();
  await waitFor(() => expect(more.textContent).toBe("10 20 30 40 50 60"));
  numbers.splice(1, 1);
  numbers.push(25, 35);
  numbers.sort((a, b) => a - b);
  world.backend.tell();
  await waitFor(() => expect(more.textContent).toBe("10 25 30 35 40 50"));
  more.click();
  await waitFor(() => expect(more.textContent).toBe("10 25 30 35 40 50 60 70"));
});

test("a job that moves to another page while its old one rests is listed once", async () => {
  const places: Record<string, number> = { a: 10, b: 20, c: 30, d: 40, e: 50, f: 60 };
  const page = ({ cursor, endCursor }: { cursor: string | null; endCursor?: string }) =>
    Object.keys(places)
      .sort((a, b) => places[a]! - places[b]!)
      .filter((id) => places[id]! > Number(cursor ?? 0) && places[id]! <= Number(endCursor ?? 99));
  world.backend.queries["builds:list"] = ({ paginationOpts }) => {
    const { endCursor, numItems } = paginationOpts as PaginationOptions & { endCursor?: string };
    const ids = page(paginationOpts).slice(0, endCursor === undefined ? numItems : undefined);
    const continueCursor = endCursor ?? `${places[ids.at(-1)!]}`;
    return { page: ids.map((id) => rowOf(id)), isDone: false, continueCursor };
  };
  world.show(
    <CalmQueries everyMs={60_000}>
      <List />
    </CalmQueries>,
  );
  const more = await screen.findByLabelText("CanLoadMore");
  more.click();
  await waitFor(() => expect(more.textContent).toBe("a b c d e f"));
  // Its page changes at full speed, and so rests.
  places["new"] = 25;
  world.backend.tell();
  await waitFor(() => expect(more.textContent).toBe("a b new c d e f"));
  await waitFor(() => expect(asked("builds:list")).toHaveLength(1));
  places["b"] = 55;
  world.backend.tell();
  await waitFor(() => expect(asked("builds:list")).toHaveLength(0));
  expect(more.textContent).toBe("a b new c d e");
});

test("statistics are the answer of the app's function, and change with it", async () => {
  let enqueued = 1;
  world.backend.queries["builds:stats"] = ({ per, count }) => ({
    per,
    periods: Array.from({ length: count as number }, (_, n) => periodOf(T0 + n, { enqueued })),
  });
  function Sum() {
    const stats = useQueueStats(builds, "builds", { per: "minute", count: 3 });
    expectTypeOf(stats).toEqualTypeOf<(Gauge & Stats) | undefined>();
    return <p aria-label="sum">{stats?.periods.reduce((sum, one) => sum + one.enqueued, 0)}</p>;
  }
  world.show(<Sum />);
  const sum = await screen.findByLabelText("sum");
  await waitFor(() => expect(sum.textContent).toBe("3"));
  enqueued = 2;
  world.backend.tell();
  await waitFor(() => expect(sum.textContent).toBe("6"));
});

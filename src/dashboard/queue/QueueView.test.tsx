/** A queue's page: it shows the look of its address, and asks before an action. */
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { ConvexError } from "convex/values";
import { describe, expect, test, vi } from "vitest";
import type { ListedJob } from "../../shared/index.js";
import { loopOf, queueOf, rowOf, someMinutes } from "../testing/fixtures.js";
import { api, withBackend } from "../testing/show.js";
import { QueueView } from "./QueueView.js";

const world = withBackend();

function shows(jobs: ListedJob[], given: Parameters<typeof queueOf>[1] = {}) {
  const { queries } = world.backend;
  queries["dashboard:queue"] = () => queueOf("tiles", given);
  queries["dashboard:stats"] = ({ per, count }) => ({ per, periods: someMinutes(count as number) });
  queries["dashboard:events"] = () => [];
  queries["dashboard:list"] = ({ filter }) => ({
    page: jobs.filter(({ status }) => filter.status === undefined || status === filter.status),
    isDone: true,
    continueCursor: "end",
  });
  world.show(<QueueView api={api} queue="tiles" />);
}

/** The arguments of the list now. */
const listed = () =>
  world.backend.asked.findLast(({ path }) => path === "dashboard:list")?.args as
    { filter: object; order: string } | undefined;

const goTo = (hash: string) => act(() => void (window.location.hash = hash));

test.each([
  [1, "Last job: failed before it started."],
  [3, "Last 3 jobs: failed before they started."],
])("where none of the last jobs ran (%d), no run time is told", async (of, text) => {
  const { gauge } = queueOf("tiles");
  const health = { ...gauge.health, of, successRate: 0, ran: 0, averageMs: 5_000 };
  shows([], { gauge: { ...gauge, health } });
  expect(await screen.findByText(text)).toBeDefined();
});

test("the address says which jobs are listed, also when it changes", async () => {
  window.location.hash = "#/queues/tiles?status=timedOut&name=resize&order=next";
  shows([]);
  await waitFor(() => expect(listed()?.filter).toEqual({ status: "timedOut", name: "resize" }));
  expect(listed()?.order).toBe("next");
  const name = screen.getByRole<HTMLInputElement>("searchbox", { name: "Name" });
  expect(name.value).toBe("resize");
  goTo("#/queues/tiles?status=any&tag=x");
  await waitFor(() => expect(listed()?.filter).toEqual({ tag: "x" }));
  await waitFor(() => expect(name.value).toBe(""));
});

test("a typed filter goes into the address at once with Enter, and adds no step to the history", async () => {
  shows([]);
  const steps = window.history.length;
  const tag = await screen.findByRole("searchbox", { name: "Tag" });
  fireEvent.change(tag, { target: { value: " customer:7 & more " } });
  fireEvent.keyDown(tag, { key: "Enter" });
  expect(window.location.hash).toBe("#/queues/tiles?tag=customer%3A7+%26+more");
  expect(window.history.length).toBe(steps);
  await waitFor(() =>
    expect(listed()?.filter).toEqual({ status: "failed", tag: "customer:7 & more" }),
  );
  fireEvent.click(screen.getByRole("button", { name: "Clear filters" }));
  expect(window.location.hash).toBe("#/queues/tiles");
});

test("going back empties the filter that was typed, although the field has the focus", async () => {
  shows([]);
  const field = await screen.findByLabelText<HTMLInputElement>("Name");
  field.focus();
  fireEvent.change(field, { target: { value: "resize" } });
  fireEvent.keyDown(field, { key: "Enter" });
  expect(window.location.hash).toBe("#/queues/tiles?name=resize");
  goTo("#/queues/tiles");
  await waitFor(() => expect(field.value).toBe(""));
  fireEvent.blur(field);
  expect(window.location.hash).toBe("#/queues/tiles");
});

test("a typed filter is read once, after a pause, and not for every letter", async () => {
  shows([]);
  const name = await screen.findByRole("searchbox", { name: "Name" });
  for (const value of ["r", "re", "res"]) fireEvent.change(name, { target: { value } });
  expect(window.location.hash).toBe("");
  await waitFor(() => expect(window.location.hash).toBe("#/queues/tiles?name=res"));
  const asked = world.backend.asked.filter(({ args }) => args["filter"]?.name !== undefined);
  await waitFor(() => expect(listed()?.filter).toEqual({ status: "failed", name: "res" }));
  expect(asked.length).toBeLessThanOrEqual(1);
});

test("a state that is chosen before the pause is over is kept", async () => {
  shows([]);
  const name = await screen.findByRole<HTMLInputElement>("searchbox", { name: "Name" });
  // A field has the focus while it is typed in, and the address writes into none that has it.
  act(() => name.focus());
  fireEvent.change(name, { target: { value: "res" } });
  goTo("#/queues/tiles?status=pending");
  await waitFor(() => expect(listed()?.filter).toMatchObject({ status: "pending" }));
  expect(screen.getByRole("searchbox", { name: "Name" })).toBe(name);
  expect(name.value).toBe("res");
  await waitFor(() => expect(window.location.hash).toBe("#/queues/tiles?status=pending&name=res"));
});

test("a link to another status keeps the other filters", async () => {
  window.location.hash = "#/queues/tiles?name=resize&per=day";
  shows([]);
  const link = await screen.findByRole("link", { name: /Pending/ });
  expect(link.getAttribute("href")).toBe("#/queues/tiles?per=day&status=pending&name=resize");
  expect(screen.getByRole("link", { name: /Failed/ }).getAttribute("aria-current")).toBe("true");
});

test("the address has the time range of statistics", async () => {
  window.location.hash = "#/queues/tiles?per=day";
  shows([]);
  await waitFor(() =>
    expect(world.backend.asked).toContainEqual({
      path: "dashboard:stats",
      args: { queue: "tiles", per: "day", count: 30 },
    }),
  );
});

test("charts have their data in words, and as a table on request", async () => {
  shows([]);
  expect(await screen.findByText(/jobs enqueued, .* finished, 120 of them failed/)).toBeTruthy();
  expect(screen.queryByRole("group", { name: "Figures per minute" })).toBeNull();
  const details = screen.getByText("Show as table").closest("details")!;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  const table = await screen.findByRole("group", { name: "Figures per minute" });
  expect(within(table).getAllByRole("row")).toHaveLength(61);
});

test("a job's row leads to its page, and the arrows lead from row to row", async () => {
  window.location.hash = "#/queues/tiles?status=running";
  shows([rowOf("j1", { name: "first" }), rowOf("j2", { name: "second" })]);
  const first = await screen.findByRole("link", { name: "first" });
  expect(first.getAttribute("href")).toBe("#/queues/tiles/jobs/j1");
  first.focus();
  fireEvent.keyDown(first, { key: "ArrowDown" });
  expect(document.activeElement?.textContent).toBe("second");
  fireEvent.keyDown(document.activeElement!, { key: "ArrowDown" });
  expect(document.activeElement?.textContent).toBe("second");
  fireEvent.keyDown(document.activeElement!, { key: "ArrowUp" });
  expect(document.activeElement).toBe(first);
});

test("a running job that ended a round before has the run time of this round", async () => {
  window.location.hash = "#/queues/tiles?status=running";
  const startedAt = Date.now() - 20 * 60_000;
  shows([rowOf("j1", { startedAt, finishedAt: startedAt - 3 * 3_600_000 })]);
  const row = (await screen.findByRole("link", { name: "j1" })).closest("tr")!;
  expect(row.textContent).toContain("20 min ago");
  expect(row.querySelector(".cv-col-took")!.textContent).toMatch(/^20 min/);
});

test("of ten thousand jobs only the visible rows are drawn", async () => {
  window.location.hash = "#/queues/tiles?status=running";
  shows(Array.from({ length: 10_000 }, (_, n) => rowOf(`j${n}`)));
  await screen.findByRole("link", { name: "j0" });
  const table = screen.getByRole("group", { name: "Jobs of tiles: running jobs" });
  expect(within(table).getAllByRole("row").length).toBeLessThan(60);
  expect(within(table).getByRole("table").getAttribute("aria-rowcount")).toBe("10001");
}, 20_000);

test("one scroll to the end of a list, as by the End key, asks for more", async () => {
  window.location.hash = "#/queues/tiles?status=running";
  shows([]);
  world.backend.queries["dashboard:list"] = ({ paginationOpts: { cursor, endCursor } }) => ({
    page: Array.from({ length: 50 }, (_, n) => rowOf(`${cursor ?? "first"}.${n}`)),
    ...{ isDone: false, continueCursor: endCursor ?? `${cursor ?? "first"}>` },
  });
  await screen.findByRole("link", { name: "first.0" });
  const box = screen.getByRole("group", { name: "Jobs of tiles: running jobs" });
  vi.spyOn(box, "scrollHeight", "get").mockReturnValue(50 * 50);
  const asked = () => world.backend.asked.filter(({ path }) => path === "dashboard:list").length;
  box.scrollTop = 600;
  fireEvent.scroll(box);
  await act(() => new Promise((done) => setTimeout(done, 50)));
  expect(asked()).toBe(1);
  box.scrollTop = 50 * 50 - 600;
  fireEvent.scroll(box);
  await waitFor(() => expect(asked()).toBe(2));
});

test("a filter without a match so far searches on only after a click", async () => {
  shows([]);
  world.backend.queries["dashboard:list"] = ({ paginationOpts }) => ({
    page: [],
    isDone: false,
    continueCursor: paginationOpts.endCursor ?? `${Number(paginationOpts.cursor ?? 0) + 1}`,
  });
  const button = await screen.findByRole("button", { name: "Search more" });
  await new Promise((done) => setTimeout(done, 100));
  const pages = () => world.backend.asked.filter(({ path }) => path === "dashboard:list").length;
  expect(pages()).toBe(1);
  fireEvent.click(button);
  await waitFor(() => expect(pages()).toBeGreaterThan(1));
});

test("a list that is refused leaves the filters, so that another can be asked for", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  shows([]);
  world.backend.queries["dashboard:list"] = ({ filter }) => {
    if (filter.status === "failed") throw new ConvexError("Not those.");
    return { page: [rowOf("j1")], isDone: true, continueCursor: "end" };
  };
  expect((await screen.findByRole("alert")).textContent).toContain("Not those.");
  goTo("#/queues/tiles?status=running");
  expect(await screen.findByRole("link", { name: "j1" })).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("events that fail leave the configuration as it is", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  window.location.hash = "#/queues/tiles?show=events";
  shows([]);
  world.backend.queries["dashboard:events"] = () => {
    throw new ConvexError("Not those.");
  };
  expect((await screen.findByRole("alert")).textContent).toContain("No access to Events");
  goTo("#/queues/tiles?show=configuration");
  expect(await screen.findByRole("table")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("statistics that fail leave the other time ranges to choose", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  window.location.hash = "#/queues/tiles?per=day";
  shows([]);
  const stats = world.backend.queries["dashboard:stats"]!;
  world.backend.queries["dashboard:stats"] = (args) => {
    if (args["per"] === "day") throw new ConvexError("Not those.");
    return stats(args);
  };
  expect((await screen.findByRole("alert")).textContent).toContain("Not those.");
  expect(screen.getByRole("link", { name: "Last hour" })).toBeTruthy();
  goTo("#/queues/tiles");
  expect(await screen.findByText(/jobs enqueued/)).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("deleting many asks first, in words that say which, and does nothing when left", async () => {
  window.location.hash = "#/queues/tiles?name=resize";
  shows([rowOf("j1", { status: "failed", name: "resize" })]);
  world.backend.mutations["dashboard:deleteMany"] = () => ({ changed: 1, isDone: true });
  const ask = await screen.findByRole("button", { name: "Delete all failed jobs named “resize”" });
  fireEvent.click(ask);
  let dialog = screen.getByRole("dialog", { name: "Delete all failed jobs named “resize”?" });
  fireEvent.click(within(dialog).getByRole("button", { name: "Go back" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(world.backend.called).toEqual([]);

  fireEvent.click(ask);
  dialog = screen.getByRole("dialog");
  fireEvent.click(within(dialog).getByRole("button", { name: "Delete" }));
  expect(world.backend.called).toEqual([
    {
      path: "dashboard:deleteMany",
      args: { queue: "tiles", filter: { statuses: ["failed"], name: "resize" } },
    },
  ]);
  expect(await screen.findByText("1 job deleted.")).toBeTruthy();
});

test("jobs that are canceled go from the list at once, and come back when that fails", async () => {
  window.location.hash = "#/queues/tiles?status=pending";
  shows([rowOf("j1", { status: "pending" }), rowOf("j2", { status: "pending" })]);
  let refuse: (error: unknown) => void = () => undefined;
  world.backend.mutations["dashboard:cancelMany"] = () => new Promise((_, no) => (refuse = no));
  await screen.findByRole("link", { name: "j1" });
  fireEvent.click(screen.getByRole("button", { name: "Cancel all pending jobs" }));
  fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("link", { name: "j1" })).toBeNull());
  refuse(new ConvexError("Not today."));
  expect(await screen.findByRole("link", { name: "j1" })).toBeTruthy();
  expect(screen.getByText("Could not cancel the jobs: Not today.")).toBeTruthy();
});

test("an action that `authorize` refuses has no button, and a worker filter has no bulk actions", async () => {
  window.location.hash = "#/queues/tiles?worker=anvil";
  shows([], { may: ["deleteMany"] });
  await screen.findByText(/not available with a worker filter/);
  expect(screen.queryByRole("button", { name: /Pause|Drain|Retry|Delete all/ })).toBeNull();
});

test("a queue that no code has declared is shown as unknown", async () => {
  world.backend.queries["dashboard:queue"] = () => null;
  world.show(<QueueView api={api} queue="nonsense" />);
  expect(await screen.findByText("No queue “nonsense”")).toBeTruthy();
});

test("an address of another queue says nothing of this one", async () => {
  window.location.hash = "#/queues/mails?status=succeeded&name=x";
  shows([]);
  await waitFor(() => expect(listed()?.filter).toEqual({ status: "failed" }));
});

describe("a queue that Convex runs", () => {
  const showsPushed = async (queues: ReturnType<typeof loopOf>["queues"]) => {
    world.backend.queries["dashboard:mainLoop"] = () =>
      loopOf({ status: "running", places: { used: 14, left: 42 }, queues });
    const { state } = queueOf("tiles");
    const inForce = { ...state.inForce, maxParallelism: 20 };
    shows([], { isPush: true, state: { ...state, inForce } });
    const list = await screen.findByRole("list", { name: "Main loop" });
    expect(world.backend.asked).toContainEqual(
      expect.objectContaining({ path: "dashboard:mainLoop", args: { queue: "tiles" } }),
    );
    return within(list)
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent);
  };

  test("shows its lanes, its jobs inside Convex, the places that are left, and that it waits", async () => {
    const own = { queue: "tiles", lanes: 2, jobs: 14, isWaiting: true };
    expect(await showsPushed([own])).toEqual([
      ...["2 lanes awake", "14 of 20 jobs at once", "42 places left in Convex"],
      "waiting for a place",
    ]);
  });

  test("with no lane awake shows none", async () => {
    expect(await showsPushed([])).toEqual([
      ...["0 lanes awake", "0 of 20 jobs at once", "42 places left in Convex"],
    ]);
  });
});

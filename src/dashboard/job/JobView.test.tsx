/** A job's page. */
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { ConvexError } from "convex/values";
import { Fragment, StrictMode, type ExoticComponent, type PropsWithChildren } from "react";
import { expect, test, vi } from "vitest";
import type { DashboardJob, LogEntry } from "../../shared/index.js";
import type { JobStatus } from "../../shared/index.js";
import { runningJob, shownJob, T0 } from "../testing/fixtures.js";
import { api, withBackend } from "../testing/show.js";
import { JobView } from "./JobView.js";

const world = withBackend();

function shows(shown: DashboardJob | null, Within: ExoticComponent<PropsWithChildren> = Fragment) {
  const { queries } = world.backend;
  queries["dashboard:job"] = () => shown;
  queries["dashboard:why"] = () => null;
  queries["dashboard:logs"] = () => ({ entries: [], cursor: "c", isDone: true });
  queries["dashboard:output"] = () => ({
    ...{ attempt: 1, lastAttempt: 1, parts: [], cursor: "c", isDone: false },
  });
  world.show(
    <Within>
      <JobView api={api} queue="tiles" id="j1" />
    </Within>,
  );
}

const failed = (given: object = {}) =>
  ({
    ...{ id: "j1", queue: "tiles", enqueuedAt: T0, attempt: 1, failures: 1, resets: 0 },
    ...{ status: "failed", error: "Error: boom\n    at draw (tile.ts:3)", finishedAt: T0 + 5 },
    ...given,
  }) as JobStatus;

test("an id that names no job says so, and leads back", async () => {
  shows(null);
  expect(await screen.findByRole("heading", { name: "Job not found" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "Go to tiles" })).toBeTruthy();
});

test("the heading keeps the focus when the job arrives", async () => {
  shows(shownJob(runningJob("j1", { name: "resize" })));
  const heading = screen.getByRole("heading", { name: "Job" });
  heading.focus();
  await screen.findByRole("heading", { name: "resize" });
  expect(document.activeElement?.textContent).toBe("resize");
});

test("an error shows its first line; its further lines open on request", async () => {
  shows(shownJob(failed()));
  const [first] = await screen.findAllByText("Error: boom");
  const details = first!.parentElement!.querySelector("details")!;
  expect(details.open).toBe(false);
  expect(details.textContent).toContain("at draw (tile.ts:3)");
});

test.each([
  ["when it must end, where it has a deadline", { deadlineAt: T0 + 60_000 }, T0 + 60_000],
  ["no time by which it must end, where it has none", {}, null],
])("its facts tell %s", async (_what, given, at) => {
  shows(shownJob(runningJob("j1", given)));
  await screen.findByText("Attempts");
  const time = screen.queryByText("Deadline")?.parentElement?.querySelector("time");
  expect(time?.dateTime ?? null).toBe(at === null ? null : new Date(at).toISOString());
});

test("a job that does not run has reasons and remedies, and no estimated start", async () => {
  shows(shownJob(failed({ status: "pending" })));
  const next = { kind: "next", text: "It is next.", remedy: "" };
  world.backend.queries["dashboard:why"] = () => ({
    why: {
      status: "pending",
      reasons: [
        { kind: "paused", text: "It is paused.", remedy: "Resume it with `resumeJob`." },
        next,
      ],
    },
    position: { ahead: 0, more: false, startsAt: Date.now() },
  });
  expect(await screen.findByText("It is paused.")).toBeTruthy();
  expect(screen.getByText("resumeJob").tagName).toBe("CODE");
  expect(screen.getByText("resumeJob").parentElement!.textContent).toBe(
    "Resume it with resumeJob.",
  );
  expect(screen.queryByText("It is next.")).toBeNull();
  expect(screen.queryByText(/Estimated start/)).toBeNull();
});

test("how many are before it, and when it begins", async () => {
  shows(shownJob(failed({ status: "pending" })));
  world.backend.queries["dashboard:why"] = () => ({
    why: { status: "pending", reasons: [{ kind: "atCapacity", text: "Full.", remedy: "" }] },
    position: { ahead: 100, more: true, startsAt: Date.now() + 30_000 },
  });
  const place = await screen.findByText(/More than 100 jobs ahead/);
  expect(place.textContent).toMatch(/Estimated start: in \d+ s\.$/);
});

test("progress in percent is a bar, within its bounds; its other fields are text", async () => {
  shows(shownJob(runningJob("j1", { progress: { percent: 140, step: "drawing" } })));
  const bar = await screen.findByRole("progressbar", { name: "Progress" });
  expect(bar).toHaveProperty("value", 100);
  expect(screen.getByText(/"step": "drawing"/)).toBeTruthy();
});

test("a payload of megabytes is cut until a click shows all of it", async () => {
  shows(shownJob(runningJob("j1"), { payload: "x".repeat(50_000) }));
  const box = await screen.findByRole("group", { name: "Payload" });
  expect(box.textContent).toHaveLength(20_000);
  fireEvent.click(screen.getByRole("button", { name: /Show all/ }));
  expect(box.textContent).toHaveLength(50_000);
});

test("a payload with values that JSON has no word for is shown all the same", async () => {
  const payload = { big: 7n, bytes: new ArrayBuffer(3), none: null };
  shows(shownJob(runningJob("j1"), { payload }));
  const box = await screen.findByRole("group", { name: "Payload" });
  expect(box.textContent).toContain('"big": "7n"');
  expect(box.textContent).toContain("<3 bytes>");
});

test("of a long output the end is shown first, and all of it on request", async () => {
  shows(shownJob(runningJob("j1")));
  const text = `the beginning ${"x".repeat(100_000)} the end`;
  world.backend.queries["dashboard:output"] = () => ({
    ...{ attempt: 1, lastAttempt: 1, parts: [{ index: 0, text }], cursor: "c", isDone: true },
  });
  world.backend.tell();
  const output = await screen.findByRole("group", { name: "Output" });
  expect(output.textContent).toMatch(/^…x+ the end$/);
  fireEvent.click(screen.getByRole("button", { name: "Show all 100,022 characters" }));
  expect(output.textContent).toBe(text);
});

test("output is shown as it comes", async () => {
  shows(shownJob(runningJob("j1")));
  await screen.findByText("No output yet");
  const parts = [{ index: 0, text: "a queue " }];
  world.backend.queries["dashboard:output"] = () => ({
    ...{ attempt: 1, lastAttempt: 1, parts, cursor: "c", isDone: false },
  });
  world.backend.tell();
  const output = await screen.findByRole("group", { name: "Output" });
  expect(output.textContent).toBe("a queue ");
  parts.push({ index: 1, text: "that is seen" });
  world.backend.tell();
  await waitFor(() => expect(output.textContent).toBe("a queue that is seen"));
});

test("a log that grows by many entries at a time is followed to its end, until the reader scrolls back", async () => {
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockImplementation(function (this: Element) {
    return parseFloat((this.firstElementChild as HTMLElement | null)?.style.height ?? "0") || 0;
  });
  vi.spyOn(HTMLElement.prototype, "scrollTo").mockImplementation(function (
    this: HTMLElement,
    given?: ScrollToOptions | number,
  ) {
    this.scrollTop = (given as ScrollToOptions).top ?? 0;
    // As a browser does: later.
    setTimeout(() => fireEvent.scroll(this));
  });
  shows(shownJob(runningJob("j1")));
  const entries: LogEntry[] = [];
  world.backend.queries["dashboard:logs"] = () => ({ entries, cursor: "c", isDone: true });
  const grow = async (to: number) => {
    while (entries.length < to) {
      const entry = entries.length;
      entries.push({ attempt: 1, entry, level: "info", message: `line ${entry}`, at: T0 });
    }
    await act(async () => {
      world.backend.tell();
      await new Promise((done) => setTimeout(done, 200));
    });
  };
  await screen.findByText("No log entries");
  for (const count of [30, 70, 110]) {
    await grow(count);
    expect(await screen.findByText(`line ${count - 1}`)).toBeTruthy();
  }
  const box = screen.getByRole("log");
  box.scrollTop = 0;
  fireEvent.scroll(box);
  await grow(150);
  expect(await screen.findByText("line 0")).toBeTruthy();
  expect(screen.queryByText("line 149")).toBeNull();
});

test("a cancel asks first, takes a reason, shows at once, and is undone when it fails", async () => {
  shows(shownJob(runningJob("j1", { name: "resize" })));
  let refuse: (error: unknown) => void = () => undefined;
  world.backend.mutations["dashboard:cancel"] = () => new Promise((_, no) => (refuse = no));
  fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  const dialog = screen.getByRole("dialog", { name: "Cancel resize?" });
  const reason = within(dialog).getByLabelText("Reason (optional)");
  fireEvent.change(reason, { target: { value: " too late " } });
  fireEvent.click(within(dialog).getByRole("button", { name: "Cancel job" }));
  expect(world.backend.called).toEqual([
    { path: "dashboard:cancel", args: { queue: "tiles", id: "j1", reason: "too late" } },
  ]);
  expect(await screen.findAllByText(/cancel requested/i)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  refuse(new ConvexError("Not yours."));
  expect(await screen.findByRole("button", { name: "Cancel" })).toBeTruthy();
  expect(screen.queryByText(/cancel requested/i)).toBeNull();
  expect(screen.getByText("Could not cancel resize: Not yours.")).toBeTruthy();
});

test("a job that waits is canceled at once, before the backend has answered", async () => {
  shows(shownJob(failed({ status: "pending" })));
  world.backend.mutations["dashboard:cancel"] = () => new Promise(() => undefined);
  fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Cancel job" }));
  expect((await screen.findAllByText("Canceled")).length).toBeGreaterThan(0);
  expect(world.backend.called[0]!.args).toEqual({ queue: "tiles", id: "j1" });
});

test("a dialog that is closed with Escape has done nothing", async () => {
  shows(shownJob(failed()));
  fireEvent.click(await screen.findByRole("button", { name: "Delete" }));
  const dialog = screen.getByRole<HTMLDialogElement>("dialog");
  // The browser closes it so on Escape.
  dialog.close();
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(world.backend.called).toEqual([]);
});

test("in React's strict mode, which opens it twice, a dialog stays", async () => {
  shows(shownJob(failed()), StrictMode);
  fireEvent.click(await screen.findByRole("button", { name: "Delete" }));
  await act(async () => await new Promise((resolve) => setTimeout(resolve, 20)));
  const dialog = screen.getByRole<HTMLDialogElement>("dialog");
  expect(dialog.open).toBe(true);
  dialog.close();
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

test("a deleted job's page gives way to its queue's list, and a failure is told there", async () => {
  window.location.hash = "#/queues/tiles/jobs/j1";
  shows(shownJob(failed()));
  world.backend.mutations["dashboard:delete"] = () => {
    throw new ConvexError("Keep it.");
  };
  fireEvent.click(await screen.findByRole("button", { name: "Delete" }));
  fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Delete" }));
  expect(window.location.hash).toBe("#/queues/tiles");
  expect(await screen.findByText("Could not delete Job j1: Keep it.")).toBeTruthy();
});

test("a button is there only where `authorize` and the status allow its action", async () => {
  shows(shownJob(failed(), { may: ["cancel", "retry"] }));
  await screen.findByRole("button", { name: "Retry" });
  expect(screen.queryByRole("button", { name: /Cancel|Delete/ })).toBeNull();
});

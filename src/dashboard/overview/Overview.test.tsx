/** The overview against a scripted backend. */
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { ConvexError } from "convex/values";
import { StrictMode } from "react";
import { describe, expect, test, vi } from "vitest";
import { countsOf, loopOf, queueOf, T0 } from "../testing/fixtures.js";
import { api, withBackend } from "../testing/show.js";
import type { MainLoop } from "../../shared/index.js";
import { Overview } from "./Overview.js";

const world = withBackend();

const shows = (...queues: ReturnType<typeof queueOf>[]) => {
  world.backend.queries["dashboard:overview"] = () => ({ queues });
  world.show(<Overview api={api} />);
};

test("while it loads it says so, and shows no data", () => {
  world.show(<Overview api={api} />);
  expect(screen.getByText("Loading…")).toBeTruthy();
  expect(screen.queryByText("No queues yet")).toBeNull();
});

test("without a queue it says how one comes to be", async () => {
  shows();
  expect(await screen.findByText("No queues yet")).toBeTruthy();
});

test("a queue's health is told in words, not by a colour alone", async () => {
  const { gauge, ...rest } = queueOf("tiles");
  const health = { ...gauge.health, light: "red" as const, reason: "nothing moves." };
  shows({ ...rest, gauge: { ...gauge, health } });
  expect(await screen.findByText("Critical")).toBeTruthy();
  expect(screen.getByText("nothing moves.")).toBeTruthy();
  expect(screen.getByText(/1 critical/)).toBeTruthy();
});

test("a queue that stands still gets worse with time, although nothing new is sent", async () => {
  const { gauge, ...rest } = queueOf("tiles");
  const red = { at: gauge.at + 500, light: "red" as const, reason: "nothing moves." };
  const later = { at: gauge.at + 3_600_000, light: "red" as const, reason: "later." };
  shows(
    { ...rest, gauge: { ...gauge, health: { ...gauge.health, worsens: [red] } } },
    queueOf("mails", { gauge: { ...gauge, health: { ...gauge.health, worsens: [later] } } }),
  );
  expect(await screen.findByText(/0 critical/)).toBeTruthy();
  expect((await screen.findByText("nothing moves.")).closest("li")!.className).toContain("red");
  expect(screen.getAllByText("Critical")).toHaveLength(1);
  expect(screen.getByText(/1 critical/)).toBeTruthy();
});

test("a queue's health is by the deployment's clock, whatever the reader's clock shows", async () => {
  const { gauge } = queueOf("tiles");
  const at = Date.now() - 3 * 3_600_000;
  const worsens = [{ at: at + 60_000, light: "red" as const, reason: "nothing moves." }];
  shows(queueOf("tiles", { gauge: { ...gauge, at, health: { ...gauge.health, worsens } } }));
  expect(await screen.findByText("Healthy")).toBeTruthy();
  expect(screen.getByText(/0 critical/)).toBeTruthy();
});

test("the throughput and the charts of a queue that stands still run out, although nothing new is sent", async () => {
  vi.useFakeTimers();
  const halfMinutes = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      await act(async () => void (await vi.advanceTimersByTimeAsync(30_000)));
      // A connection without messages is given up.
      act(() => world.backend.tell());
    }
  };
  shows(queueOf("tiles"));
  await halfMinutes(2);
  expect(screen.getByText("40 jobs/min")).toBeTruthy();
  expect(screen.getByText(/critical\. 40 jobs\/min\.$/)).toBeTruthy();
  await halfMinutes(10);
  expect(screen.getByText("0 jobs/min")).toBeTruthy();
  expect(screen.getByRole("img", { name: /^[\d,]+ jobs finished/ })).toBeTruthy();
  await halfMinutes(60);
  expect(
    screen.getByRole("img", { name: "No jobs finished in the last 30 minutes." }),
  ).toBeTruthy();
  expect(screen.getByRole("img", { name: "No queue latency recorded." })).toBeTruthy();
  expect(screen.getByText(/critical\. 0 jobs\/min\.$/)).toBeTruthy();
});

test("queues that were left out are told", async () => {
  world.backend.queries["dashboard:overview"] = () => ({ queues: [queueOf("tiles")], more: true });
  world.show(<Overview api={api} />);
  expect(await screen.findByText(/^First 1 queue, 0 critical/)).toBeTruthy();
});

test("counts that were cut say so, and lead to the jobs they count", async () => {
  const { gauge, ...rest } = queueOf("tiles");
  shows({ ...rest, gauge: { ...gauge, counts: countsOf({ timedOut: 2_000 }) } });
  const link = await screen.findByRole("link", { name: /Timed out/ });
  expect(link.textContent).toContain("1,000+");
  expect(link.getAttribute("href")).toBe("#/queues/tiles?status=timedOut");
});

test("scheduled jobs that wait for a retry are counted beside the scheduled ones", async () => {
  const { gauge, ...rest } = queueOf("tiles");
  const counts = countsOf({ scheduled: 12 });
  const scheduled = { ...counts.scheduled, retrying: 3 };
  shows({ ...rest, gauge: { ...gauge, counts: { ...counts, scheduled } } });
  const link = await screen.findByRole("link", { name: /Scheduled/ });
  expect(link.textContent).toBe("12 Scheduled3 backing off");
});

test("a sparkline has its data in words", async () => {
  shows(queueOf("tiles"));
  expect(
    await screen.findByRole("img", { name: /jobs finished in the last 30 minutes, at most/ }),
  ).toBeTruthy();
});

test("a pause shows at once, before the backend has answered", async () => {
  let answer: (value: unknown) => void = () => undefined;
  world.backend.mutations["dashboard:pause"] = () => new Promise((done) => (answer = done));
  shows(queueOf("tiles"));
  fireEvent.click(await screen.findByRole("button", { name: "Pause tiles" }));
  expect(await screen.findByRole("button", { name: "Resume tiles" })).toBeTruthy();
  expect(world.backend.called).toEqual([{ path: "dashboard:pause", args: { queue: "tiles" } }]);

  const paused = queueOf("tiles");
  paused.state.pausedAt = T0;
  world.backend.queries["dashboard:overview"] = () => ({ queues: [paused] });
  answer({ changed: true });
  expect(await screen.findByText("tiles is paused.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Resume tiles" })).toBeTruthy();
});

test("a pause that fails is undone, and every reader sees the reason", async () => {
  let refuse: (error: unknown) => void = () => undefined;
  world.backend.mutations["dashboard:pause"] = () => new Promise((_, no) => (refuse = no));
  shows(queueOf("tiles"), queueOf("mails"));
  fireEvent.click(await screen.findByRole("button", { name: "Pause tiles" }));
  await screen.findByRole("button", { name: "Resume tiles" });
  refuse(new ConvexError({ code: "forbidden", message: "Only operators may pause." }));
  expect(await screen.findByRole("button", { name: "Pause tiles" })).toBeTruthy();
  const told = screen.getByText("Could not pause tiles: Only operators may pause.");
  expect(told.closest("[aria-live=assertive]")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(screen.queryByText(/Could not pause/)).toBeNull();
});

test("an action that `authorize` refuses has no button", async () => {
  shows(queueOf("tiles", { may: [] }), queueOf("mails", { may: ["pause"] }));
  await screen.findByRole("button", { name: "Pause mails" });
  expect(screen.queryByRole("button", { name: /tiles/ })).toBeNull();
});

test("with leave to pause but not to resume, a paused queue has no button", async () => {
  const paused = queueOf("tiles", { may: ["pause"] });
  paused.state.pausedAt = T0;
  shows(paused);
  await screen.findByRole("heading", { name: "tiles" });
  expect(screen.queryByRole("button")).toBeNull();
});

test("forbidden, it says so in the app's words, and asks again when told to", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  let isForbidden = true;
  world.backend.queries["dashboard:overview"] = () => {
    if (isForbidden) throw new ConvexError({ code: "forbidden", message: "Sign in first." });
    return { queues: [queueOf("tiles")] };
  };
  world.show(<Overview api={api} />);
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("No access to queues");
  expect(alert.textContent).toContain("Sign in first.");
  isForbidden = false;
  // Until the backend has received the unsubscribe, the client keeps its old answer.
  await waitFor(() => expect(world.backend.asked).toEqual([]));
  await new Promise((done) => setTimeout(done, 20));
  fireEvent.click(within(alert).getByRole("button", { name: "Try again" }));
  expect(await screen.findByRole("heading", { name: "tiles" })).toBeTruthy();
});

test("a failure is shown without a stack trace", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  world.backend.queries["dashboard:overview"] = () => {
    throw new Error("Server Error\n  at handler (dashboard.ts:3)");
  };
  world.show(<Overview api={api} />);
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("Could not load queues");
  expect(alert.textContent).toContain("Server Error");
  expect(alert.textContent).not.toContain("dashboard.ts:3");
});

test.each([
  ["fails once", new Error("Function execution timed out (maximum duration: 1s)")],
  ["is refused, as before the reader is signed in", new ConvexError({ code: "forbidden" })],
])("a query that %s is asked again by itself, and then shown", async (_what, error) => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const pass = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n += 1) await pass(1_000);
  };
  let fails = true;
  world.backend.queries["dashboard:overview"] = () => {
    if (fails) throw error;
    return { queues: [queueOf("tiles")] };
  };
  world.show(
    <StrictMode>
      <Overview api={api} />
    </StrictMode>,
  );
  await seconds(1);
  expect(screen.getByRole("alert")).toBeTruthy();
  await seconds(8);
  expect(screen.getByRole("alert")).toBeTruthy();
  fails = false;
  await seconds(12);
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getByRole("heading", { name: "tiles" })).toBeTruthy();
});

test("disconnected, it says that its data is old, and every action is off", async () => {
  // The client tries again after ever longer waits, up to chance.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pass = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
  shows(queueOf("tiles"));
  await pass(100);
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Pause tiles" });
  world.backend.reach(false);
  await pass(1_000);
  expect(screen.queryByText("Disconnected.")).toBeNull();
  expect(button.disabled).toBe(false);
  await pass(2_000);
  const banner = screen.getByText("Disconnected.");
  expect(button.disabled).toBe(true);
  const reason = document.getElementById(button.getAttribute("aria-describedby")!);
  expect(reason?.contains(banner)).toBe(true);
  world.backend.reach(true);
  await pass(20_000);
  expect(button.disabled).toBe(false);
});

describe("the main loop", () => {
  const showsLoop = async (given: Partial<MainLoop> = {}) => {
    world.backend.queries["dashboard:mainLoop"] = () => loopOf(given);
    shows(queueOf("tiles", { isPush: true }));
    return (await screen.findByRole("heading", { name: "Main loop" })).closest("section")!;
  };

  test("is not asked for where Convex runs no queue", async () => {
    shows(queueOf("tiles"));
    await screen.findByRole("heading", { name: "tiles" });
    expect(screen.queryByText("Main loop")).toBeNull();
    expect(world.backend.asked.map(({ path }) => path)).toEqual(["dashboard:overview"]);
  });

  test("at rest is idle, with all places left", async () => {
    const { textContent } = await showsLoop();
    expect(textContent).toBe("Main loopIdlegeneration 00 lanes awake0 of 56 places used");
  });

  // Shows WP-33.
  test("that runs says its generation, lanes, places, waiting queues and the places by queue", async () => {
    const section = await showsLoop({
      ...{ status: "waiting", generation: 12, places: { used: 14, left: 2 } },
      ...{ lanes: { awake: 5, jobs: 14, more: false }, waiting: ["mails", "tiles"] },
      queues: [
        { queue: "tiles", lanes: 5, jobs: 14, isWaiting: true },
        { queue: "mails", lanes: 0, jobs: 0, isWaiting: true },
      ],
      next: { kind: "janitor", dueAt: Date.now() + 20_000 },
    });
    const items = within(section).getAllByRole("listitem");
    expect(items.map(({ textContent }) => textContent)).toEqual([
      ...["generation 12", "5 lanes awake", "14 of 16 places used", "2 queues waiting"],
      expect.stringMatching(/^next alarm in \d+ s$/),
      ...["tiles5 lanes, 14 jobs runningwaiting for a place"],
      ...["mails0 lanes, 0 jobs runningwaiting for a place"],
    ]);
    expect(within(section).getByText("Waiting for places")).toBeTruthy();
    const link = within(section).getByRole("link", { name: "mails" });
    expect(link.getAttribute("href")).toBe("#/queues/mails");
  });

  test("that has stalled says so in words, with the consequence, and since when its alarm is overdue", async () => {
    const section = await showsLoop({
      ...{ status: "stalled", generation: 3, places: { used: 4, left: 52 } },
      next: { kind: "janitor", dueAt: Date.now() - 30_000 },
    });
    expect(within(section).getByText("Stalled")).toBeTruthy();
    expect(within(section).getByText(/^A process has died/)).toBeTruthy();
    expect(section.textContent).toMatch(/alarm overdue, due 3\d s ago/);
  });

  test("with an alarm that is a little late says now, and not that it is overdue", async () => {
    const section = await showsLoop({ next: { kind: "rollUp", dueAt: Date.now() - 2_000 } });
    expect(section.textContent).toContain("next alarm now");
  });

  test("that fails, or is refused, leaves the queues on the page", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    world.backend.queries["dashboard:mainLoop"] = () => {
      throw new ConvexError({ code: "forbidden", message: "Operators only." });
    };
    shows(queueOf("tiles", { isPush: true }));
    expect((await screen.findByRole("alert")).textContent).toContain("No access to main loop");
    expect(screen.getByRole("heading", { name: "tiles" })).toBeTruthy();
  });
});

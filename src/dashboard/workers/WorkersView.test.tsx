/** The page of workers. */
import { fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { ShownWorker } from "../../shared/index.js";
import { api, withBackend } from "../testing/show.js";
import { WorkersView } from "./WorkersView.js";

const world = withBackend();

const workerOf = (name: string, given: Partial<ShownWorker> = {}): ShownWorker => ({
  ...{
    id: name,
    session: name,
    may: [],
    name,
    isLane: false,
    state: "waiting",
    lastSeenAt: Date.now() - 5_000,
  },
  ...{ queues: ["tiles"], holding: [] },
  ...given,
});

function shows(...workers: ShownWorker[]) {
  world.backend.queries["dashboard:workers"] = () => workers;
  world.show(<WorkersView api={api} />);
}

test("before the first job it says how a worker comes to be here", async () => {
  shows();
  expect(await screen.findByText("No workers yet")).toBeTruthy();
});

test("a worker's running jobs are links, by name where they have one", async () => {
  const held = { queue: "tiles", attempt: 2 };
  shows(
    workerOf("anvil", {
      state: "working",
      holding: [
        { ...held, id: "j1", name: "resize", startedAt: Date.now() - 3_000 },
        { ...held, id: "j2", attempt: 1 },
      ],
    }),
  );
  const link = await screen.findByRole("link", { name: "tiles resize, attempt 2" });
  expect(link.getAttribute("href")).toBe("#/queues/tiles/jobs/j1");
  expect(link.closest("li")!.textContent).toMatch(/for \d\.\d s, attempt 2$/);
  expect(screen.getByRole("link", { name: "tiles j2, attempt 1" })).toBeTruthy();
  expect(screen.getByText(/1 worker and 0 lanes online, 1 running 2 jobs/)).toBeTruthy();
});

test("of a lane with hundreds of jobs, some are named and the rest counted", async () => {
  const holding = Array.from({ length: 300 }, (_, n) => ({
    ...{ id: `j${n}`, queue: "tiles", attempt: 1 },
  }));
  shows(workerOf("tiles#0", { isLane: true, state: "working", holding }));
  expect(await screen.findByText("and 292 more")).toBeTruthy();
  expect(screen.getByText("Convex")).toBeTruthy();
});

test("offline workers are shown on request, and are not counted", async () => {
  shows(workerOf("anvil"), workerOf("bellows", { state: "stopped" }));
  expect(await screen.findByText("anvil")).toBeTruthy();
  expect(screen.queryByText("bellows")).toBeNull();
  expect(screen.getByText(/1 worker and 0 lanes online/)).toBeTruthy();
  fireEvent.click(screen.getByRole("checkbox", { name: "Show offline (1)" }));
  expect(screen.getByText("bellows")).toBeTruthy();
});

test("where as many are online as are read, there may be more", async () => {
  shows(...Array.from({ length: 100 }, (_, n) => workerOf(`w${n}`)));
  expect(await screen.findByText(/^At least 100 workers and 0 lanes online, all/)).toBeTruthy();
});

test("workers keep their order by name, whichever was last seen", async () => {
  shows(workerOf("w10"), workerOf("w2", { lastSeenAt: 1 }), workerOf("a#0", { isLane: true }));
  await screen.findByText("w2");
  const names = [...document.querySelectorAll(".cv-worker-name b")].map((b) => b.textContent);
  expect(names).toEqual(["w2", "w10", "a#0"]);
});

test("a worker that says an impossible time of its start is listed, and so are the others", async () => {
  const origin = { startedAt: Number.MAX_SAFE_INTEGER, version: "1.0.0" };
  shows(workerOf("anvil", { origin }), workerOf("bellows"));
  expect(await screen.findByText("bellows")).toBeTruthy();
  expect(screen.getByText("anvil").closest("li")!.textContent).toContain("v1.0.0, started");
});

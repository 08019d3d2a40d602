/** Who works, as the page tells it. */
import { fireEvent, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { WorkerStatus } from "../../shared/index.js";
import { api, withBackend } from "../testing/show.js";
import { WorkersView } from "./WorkersView.js";

const world = withBackend();

const workerOf = (name: string, given: Partial<WorkerStatus> = {}): WorkerStatus => ({
  ...{ session: name, name, isLane: false, state: "idle", lastSeenAt: Date.now() - 5_000 },
  ...{ queues: ["tiles"], holding: [] },
  ...given,
});

function shows(...workers: WorkerStatus[]) {
  world.backend.queries["dashboard:workers"] = () => workers;
  world.show(<WorkersView api={api} />);
}

test("before the first job it says how a worker comes to be here", async () => {
  shows();
  expect(await screen.findByText("Nobody has taken a job yet")).toBeTruthy();
});

test("what a worker does now leads to its jobs, by their names where they have some", async () => {
  const held = { queue: "tiles", attempt: 2 };
  shows(
    workerOf("anvil", {
      state: "active",
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
  expect(screen.getByText(/1 worker and 0 lanes are there; 1 of them hold 2 jobs/)).toBeTruthy();
});

test("of a lane that holds hundreds, some are named and the others counted", async () => {
  const holding = Array.from({ length: 300 }, (_, n) => ({
    ...{ id: `j${n}`, queue: "tiles", attempt: 1 },
  }));
  shows(workerOf("tiles#0", { isLane: true, state: "active", holding }));
  expect(await screen.findByText("and 292 others")).toBeTruthy();
  expect(screen.getByText("Lane of Convex")).toBeTruthy();
});

test("those that are gone are there for who asks, and are not counted", async () => {
  shows(workerOf("anvil"), workerOf("bellows", { state: "gone" }));
  expect(await screen.findByText("anvil")).toBeTruthy();
  expect(screen.queryByText("bellows")).toBeNull();
  expect(screen.getByText(/1 worker and 0 lanes are there/)).toBeTruthy();
  fireEvent.click(screen.getByRole("checkbox", { name: "With those that are gone (1)" }));
  expect(screen.getByText("bellows")).toBeTruthy();
});

test("workers keep their places, by name, whoever was heard last", async () => {
  shows(workerOf("w10"), workerOf("w2", { lastSeenAt: 1 }), workerOf("a#0", { isLane: true }));
  await screen.findByText("w2");
  const names = [...document.querySelectorAll(".cv-worker-name b")].map((b) => b.textContent);
  expect(names).toEqual(["w2", "w10", "a#0"]);
});

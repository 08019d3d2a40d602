/** The whole dashboard: where one is, and how one gets elsewhere. */
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { Dashboard, hashRouting, type Routing } from "./index.js";
import { queueOf } from "./testing/fixtures.js";
import { api, withBackend } from "./testing/show.js";

const world = withBackend();

function answers() {
  world.backend.queries["dashboard:overview"] = () => ({ queues: [queueOf("tiles")] });
  world.backend.queries["dashboard:queue"] = () => null;
  world.backend.queries["dashboard:workers"] = () => [];
}

const goTo = (hash: string) => act(() => void (window.location.hash = hash));

test("each address shows its view, and only that is asked for", async () => {
  answers();
  world.show(<Dashboard api={api} />);
  expect(await screen.findByRole("heading", { level: 1, name: "Queues" })).toBeTruthy();
  goTo("#/workers");
  expect(await screen.findByRole("heading", { level: 1, name: "Workers" })).toBeTruthy();
  await waitFor(() =>
    expect(world.backend.asked.map(({ path }) => path)).toEqual(["dashboard:workers"]),
  );
  goTo("#/queues/tiles");
  expect(await screen.findByRole("heading", { level: 1, name: "tiles" })).toBeTruthy();
  goTo("#/nowhere/at/all");
  expect(await screen.findByText("Page not found")).toBeTruthy();
});

test("a new page moves the focus to its heading; opening the dashboard or filtering does not", async () => {
  answers();
  world.show(<Dashboard api={api} />);
  await screen.findByRole("heading", { name: "Queues" });
  expect(document.activeElement).toBe(document.body);
  goTo("#/queues/tiles");
  const heading = await screen.findByRole("heading", { level: 1, name: "tiles" });
  await waitFor(() => expect(document.activeElement).toBe(heading));
  heading.blur();
  goTo("#/queues/tiles?status=pending");
  await act(() => new Promise((done) => setTimeout(done, 20)));
  expect(document.activeElement).toBe(document.body);
});

test("the first link skips to the content, and leaves the address as it is", async () => {
  answers();
  window.location.hash = "#/workers";
  world.show(<Dashboard api={api} />);
  fireEvent.click(screen.getByRole("link", { name: "Skip to content" }));
  expect(document.activeElement).toBe(screen.getByRole("main"));
  expect(window.location.hash).toBe("#/workers");
});

test("an app's own routing has the targets of links and the page shown", async () => {
  answers();
  const go = vi.fn();
  const routing: Routing = {
    usePath: () => "/workers",
    hrefOf: (path) => `/admin/queues${path}`,
    go,
  };
  world.show(<Dashboard api={api} routing={routing} title="Our queues" />);
  expect(await screen.findByRole("heading", { name: "Workers" })).toBeTruthy();
  expect(screen.getByText("Our queues")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Queues" }).getAttribute("href")).toBe("/admin/queues/");
});

test("with a prefix, the rest of the app's hash is not its business", () => {
  const routing = hashRouting("/admin");
  expect(routing.hrefOf("/queues/a")).toBe("#/admin/queues/a");
  routing.go("/queues/a?status=failed", { replace: true });
  expect(window.location.hash).toBe("#/admin/queues/a?status=failed");
});

test("a theme that is asked for is said on its root, and none is not", () => {
  const { unmount } = world.show(<Dashboard api={api} theme="dark" />);
  expect(document.querySelector<HTMLElement>(".conveyor")!.dataset["theme"]).toBe("dark");
  unmount();
  world.show(<Dashboard api={api} />);
  expect(document.querySelector<HTMLElement>(".conveyor")!.dataset["theme"]).toBeUndefined();
});

import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { cutIntoTiles } from "../convex/scene.js";
import { App } from "./App.js";
import * as data from "./data.js";
import { sceneOf, VIEWS } from "./presets.js";

/** Named one by one, so that the real one, and with it the built library, is not loaded. */
vi.mock("./data.js", () => ({
  usePictures: vi.fn(),
  usePicture: vi.fn(),
  useTiles: vi.fn(),
  usePixels: vi.fn(),
  useTileJob: vi.fn(),
  useChange: vi.fn(),
  useWorkers: vi.fn(),
  useSummary: vi.fn(),
  useSummaryJob: vi.fn(),
  useSummaryAttempts: vi.fn(),
  useSummarizeAgain: vi.fn(),
  useCounts: vi.fn(),
  useCreatePicture: vi.fn(),
  useCancelPicture: vi.fn(),
  useRetryPicture: vi.fn(),
  useConnection: vi.fn(),
}));
vi.hoisted(() => vi.resetModules());

const scene = sceneOf({ view: VIEWS[0]!, palette: "ember", size: "small", quality: "draft" });
const picture = { _id: "p", _creationTime: 0, title: "Seahorse tail", scene, tileCount: 12 };

type Row = Partial<data.Tile>;

function tilesWith(change: (index: number) => Row): data.Tile[] {
  return cutIntoTiles(scene).map((region, index) => {
    const row = { _id: `t${index}`, index, region, job: `j${index}`, status: "unfinished" };
    return { ...row, ...change(index) } as data.Tile;
  });
}

/** A canvas in jsdom draws nothing; the pixels' own tests cover drawing. */
beforeEach(() => {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.mocked(data.usePictures).mockReturnValue([picture as data.Picture]);
  vi.mocked(data.useTiles).mockReturnValue(tilesWith(() => ({})));
  vi.mocked(data.useWorkers).mockReturnValue([]);
  vi.mocked(data.useConnection).mockReturnValue({ connected: true, everConnected: true });
});

afterEach(() => {
  cleanup();
  vi.resetAllMocks();
  vi.useRealTimers();
  window.location.hash = "";
});

describe("the picture", () => {
  test("asks a newcomer for the first one instead of showing an empty frame", () => {
    vi.mocked(data.usePictures).mockReturnValue([]);
    render(<App />);
    expect(screen.getByRole("link", { name: "Draw the first picture" })).toBeDefined();
    expect(screen.queryByRole("img")).toBeNull();
  });

  test("says in words how much is drawn, for screen readers", () => {
    vi.mocked(data.useTiles).mockReturnValue(
      tilesWith((i) => (i < 5 ? { status: "succeeded", worker: "anvil", attempt: 1 } : {})),
    );
    render(<App />);
    expect(screen.getByRole("img", { name: "Seahorse tail, 5 of 12 tiles drawn" })).toBeDefined();
    expect(screen.getByRole("progressbar", { name: "Tiles drawn" })).toHaveProperty("value", 5);
    expect(screen.getByText("Seahorse tail: 25 percent drawn.")).toBeDefined();
  });

  test("offers to retry failed tiles, and shows why the retry was refused", async () => {
    const retry = vi.fn().mockRejectedValue(new Error("no such picture\n  at somewhere"));
    vi.mocked(data.useRetryPicture).mockReturnValue(retry as never);
    vi.mocked(data.useTiles).mockReturnValue(
      tilesWith((i) => (i === 3 ? { status: "failed", error: "boom" } : { status: "succeeded" })),
    );
    render(<App />);
    fireEvent.click(screen.getByRole("button", { name: "Retry 1 tile" }));
    expect(retry).toHaveBeenCalledWith({ picture: "p" });
    expect((await screen.findByRole("alert")).textContent).toBe("no such picture");
  });

  test("while it is canceled, says how far that is and offers nothing else", () => {
    vi.mocked(data.useChange).mockReturnValue({ kind: "cancel", total: 10, left: 7 });
    vi.mocked(data.useTiles).mockReturnValue(
      tilesWith((i) => (i > 8 ? { status: "canceled", error: "canceled" } : {})),
    );
    render(<App />);
    const button = screen.getByRole("button", { name: "Canceling… 3 of 10" });
    expect(button).toHaveProperty("disabled", true);
    expect(screen.queryByRole("button", { name: /Retry|Cancel the rest/ })).toBeNull();
  });

  test("canceled tiles are not called failed", () => {
    vi.mocked(data.useTiles).mockReturnValue(
      tilesWith((i) => ({ status: i < 2 ? "failed" : i < 5 ? "canceled" : "succeeded" })),
    );
    render(<App />);
    const shares = document.querySelector(".shares")!;
    expect(shares.textContent).toBe("7 of 12 tiles3 canceled2 failed");
    expect(screen.getByText("3 canceled").className).toBe("canceled");
    expect(screen.getByRole("button", { name: "Retry 5 tiles" })).toBeDefined();
  });

  test("shows each tile's worker, attempt and progress in a table", () => {
    vi.mocked(data.useTileJob).mockImplementation((tile) =>
      tile.index === 1
        ? ({ status: "running", worker: "anvil", attempt: 2, progress: { percent: 40 } } as never)
        : undefined,
    );
    render(<App />);
    fireEvent.click(screen.getByText("Every tile in words"));
    const details = screen.getByText("Every tile in words").closest("details")!;
    details.open = true;
    fireEvent(details, new Event("toggle"));
    const row = within(details).getByRole("row", { name: /^A2/ });
    expect(row.textContent).toBe("A2being drawn (40 %)anvil2–");
  });

  test("an address that names no picture says so and leaves the rest of the page usable", () => {
    window.location.hash = "#/nonsense";
    vi.mocked(data.usePicture).mockReturnValue(null);
    render(<App />);
    expect(screen.getByText("There is no such picture")).toBeDefined();
    expect(screen.getByRole("button", { name: /Draw it/ })).toBeDefined();
  });
});

describe("the workers", () => {
  // A clock that stands still: "2 s ago" must not depend on how long rendering takes.
  beforeEach(() => void vi.useFakeTimers());

  const holding = [{ id: "j6", queue: "tiles", attempt: 2 }];
  const about = { id: "s", session: "s", name: "anvil", isLane: false, state: "working" } as const;
  const worker = { ...about, queues: ["tiles"], holding };

  test("are shown with their last beat, and the names of the tiles that they hold", () => {
    vi.mocked(data.useWorkers).mockReturnValue([
      { ...worker, holding: [...holding], lastSeenAt: Date.now() - 2000 },
    ]);
    render(<App />);
    const card = screen.getByText("drawing").closest("li")!;
    expect(card.textContent).toContain("last beat 2 s ago");
    expect(card.textContent).toContain("holds B3 (attempt 2)");
  });

  test("one that holds something and says nothing is called silent before its lease is over", () => {
    vi.mocked(data.useWorkers).mockReturnValue([
      { ...worker, holding: [...holding], lastSeenAt: Date.now() - 4500 },
    ]);
    render(<App />);
    expect(screen.getByText("silent")).toBeDefined();
  });

  test("one that is gone and held nothing is not said to have left tiles behind", () => {
    vi.mocked(data.useWorkers).mockReturnValue([
      { ...worker, state: "stopped", holding: [], lastSeenAt: Date.now() - 2000 },
    ]);
    render(<App />);
    expect(screen.getByText("gone").closest("li")!.textContent).toContain("holds nothing");
  });

  test("without a backend no worker is called silent: time stands still at the last news", () => {
    vi.mocked(data.useConnection).mockReturnValue({ connected: false, everConnected: true });
    vi.mocked(data.useWorkers).mockReturnValue([
      { ...worker, holding: [...holding], lastSeenAt: Date.now() - 1000 },
    ]);
    render(<App />);
    act(() => void vi.advanceTimersByTime(2_000));
    act(() => void vi.advanceTimersByTime(60_000));
    expect(screen.getByText("drawing")).toBeDefined();
    expect(screen.queryByText("silent")).toBeNull();
  });

  test("before the first has taken a tile, the page does not claim that there are none", () => {
    render(<App />);
    expect(screen.getByText(/Nobody has taken a tile yet/).textContent).toContain(
      "example/worker/main.ts",
    );
  });
});

describe("trouble", () => {
  test("a backend out of reach is announced, but not for the blink of a reload", () => {
    vi.useFakeTimers();
    vi.mocked(data.useConnection).mockReturnValue({ connected: false, everConnected: true });
    render(<App />);
    act(() => void vi.advanceTimersByTime(1400));
    expect(screen.queryByText(/out of reach/)).toBeNull();
    act(() => void vi.advanceTimersByTime(200));
    const banner = screen.getByRole("status");
    expect(banner.textContent).toBe(
      "The backend is out of reach. The page shows the last known state.",
    );
  });

  test("a button that needs the backend is off while it is out of reach, and says why", () => {
    vi.useFakeTimers();
    vi.mocked(data.useConnection).mockReturnValue({ connected: false, everConnected: true });
    render(<App />);
    act(() => void vi.advanceTimersByTime(1600));
    for (const name of [/^Draw it/, "Cancel the rest"]) {
      const button = screen.getByRole("button", { name });
      expect(button).toHaveProperty("disabled", true);
      const why = document.getElementById(button.getAttribute("aria-describedby")!);
      expect(why?.textContent).toContain("The backend is out of reach");
    }
    expect(screen.getByText("Not while the backend is out of reach.")).toBeDefined();
  });

  test("one panel's failure leaves the other panels standing", () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.mocked(data.useWorkers).mockImplementation(() => {
      throw new Error("Server Error");
    });
    render(<App />);
    expect(screen.getByRole("alert").textContent).toContain("The workers cannot be shown");
    expect(screen.getByRole("heading", { name: "Seahorse tail" })).toBeDefined();
  });
});

test("two pictures of one view can be told apart in the gallery", () => {
  vi.mocked(data.usePictures).mockReturnValue([
    { ...picture, _id: "p", _creationTime: Date.UTC(2026, 10, 21, 3, 0) } as data.Picture,
    { ...picture, _id: "q", _creationTime: Date.UTC(2026, 10, 21, 3, 7) } as data.Picture,
  ]);
  render(<App />);
  const names = screen.getAllByRole("button", { name: /^Seahorse tail/ }).map((b) => b.textContent);
  expect(names[0]).toContain("384 × 288");
  expect(new Set(names).size).toBe(2);
});

test("a new picture is asked for as chosen, and shown as soon as it exists", async () => {
  const create = vi.fn().mockResolvedValue("new");
  vi.mocked(data.useCreatePicture).mockReturnValue(create as never);
  render(<App />);
  fireEvent.change(screen.getByRole("combobox", { name: "View" }), { target: { value: "Dragon" } });
  fireEvent.click(screen.getByRole("radio", { name: "large" }));
  fireEvent.click(screen.getByRole("radio", { name: "finest" }));
  fireEvent.click(screen.getByRole("button", { name: "Draw it in 108 tiles" }));
  await vi.waitFor(() => expect(window.location.hash).toBe("#/new"));
  expect(create).toHaveBeenCalledWith({
    title: "Dragon",
    fragile: false,
    scene: expect.objectContaining({
      width: 1152,
      height: 864,
      samples: 4,
      palette: "lagoon",
      fractal: { kind: "julia", c: { re: -0.8, im: 0.156 } },
    }),
  });
});

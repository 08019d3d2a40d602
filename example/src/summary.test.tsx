/** The summary's panel, in each state that Convex's work on it has. */
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SummaryPanel } from "./components/SummaryPanel.js";
import * as data from "./data.js";

vi.mock("./data.js", () => ({
  usePictures: vi.fn(),
  usePicture: vi.fn(),
  useTiles: vi.fn(),
  useSummary: vi.fn(),
  useSummaryJob: vi.fn(),
  useSummaryAttempts: vi.fn(),
  useSummarizeAgain: vi.fn(),
  useConnection: vi.fn(),
}));
vi.hoisted(() => vi.resetModules());

const failed = (attempt: number) => ({
  attempt,
  outcome: "failed",
  error: `boom ${attempt}`,
});

/** The text on the screen; rendered once, and then again. */
let page: ReturnType<typeof render> | undefined;

function show(row: object | null, job?: object, attempts: object[] = []) {
  vi.mocked(data.useSummary).mockReturnValue(row as never);
  vi.mocked(data.useSummaryJob).mockReturnValue(job as never);
  vi.mocked(data.useSummaryAttempts).mockReturnValue(attempts as never);
  const panel = <SummaryPanel selected={null} />;
  if (page === undefined) page = render(panel);
  else page.rerender(panel);
  return screen.queryByRole("status")?.textContent;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(data.usePictures).mockReturnValue([{ _id: "p" } as data.Picture]);
  const region = { x: 96, y: 0, width: 96, height: 96 };
  vi.mocked(data.useTiles).mockReturnValue([{ index: 1, region } as data.Tile]);
  vi.mocked(data.useConnection).mockReturnValue({ connected: true, everConnected: true });
});

afterEach(() => {
  cleanup();
  page = undefined;
  vi.resetAllMocks();
  vi.useRealTimers();
});

describe("the summary", () => {
  test("is not on the page before there is a picture", () => {
    vi.mocked(data.usePictures).mockReturnValue([]);
    expect(show(null)).toBeUndefined();
    expect(screen.queryByRole("heading")).toBeNull();
  });

  test("of a picture with tiles to draw says when it will come", () => {
    expect(show(null)).toBe("Convex writes one by itself as soon as every tile is drawn.");
  });

  test("that failed and is tried again says when, and why it failed", () => {
    const row = { status: "unfinished", job: "j" };
    show(row, { status: "running", attempt: 1 });
    // The page was opened long before: its clock must not be that old.
    vi.setSystemTime(Date.now() + 60_000);
    const job = { status: "scheduled", dueAt: Date.now() + 3_000, attempt: 1 };
    const said = show(row, job, [failed(1)]);
    expect(said).toBe("Attempt 1 failed. Convex tries again in 3 s.");
    expect(screen.getByRole("list", { name: "Attempts that failed" }).textContent).toBe(
      "attempt 1 boom 1",
    );
    expect(screen.queryByRole("button")).toBeNull();
  });

  test("that is written says so by name, in colours and tiles, with the attempt that failed before", () => {
    const summary = {
      ...{ colours: [{ colour: "#102030", share: 0.625 }], workers: 2, computeMs: 1_500 },
      ...{ brightest: 1, darkest: 1, slowest: 1 },
    };
    const row = { status: "succeeded", job: "j", attempt: 2, summary };
    const attempts = [failed(1), { attempt: 2, outcome: "succeeded", worker: "summaries#0" }];
    expect(show(row, undefined, attempts)).toBe("Written by summaries#0, attempt 2.");
    const colours = screen.getByRole("list", { name: "Colours that cover most of it" });
    expect(
      within(colours)
        .getAllByRole("listitem")
        .map((one) => one.textContent),
    ).toEqual(["#102030 63 %", "others 38 %"]);
    expect(screen.getByText("Brightest").parentElement!.textContent).toBe("BrightestA2");
    expect(screen.getByText("Drawn by").parentElement!.textContent).toBe(
      "Drawn by2 workers, 1.5 s",
    );
  });

  test("with a failed last attempt can be asked for once more", () => {
    const again = vi.fn().mockResolvedValue(null);
    vi.mocked(data.useSummarizeAgain).mockReturnValue(again as never);
    const attempts = [failed(1), failed(2), failed(3)];
    const said = show({ status: "failed", job: "j", attempt: 3 }, undefined, attempts);
    expect(said).toBe("Attempt 3 failed, and it was the last.");
    fireEvent.click(screen.getByRole("button", { name: "Summarize it again" }));
    expect(again).toHaveBeenCalledWith({ picture: "p" });
  });
});

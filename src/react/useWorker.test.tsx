/** A page that is a worker, with a scripted one. */
import { act, cleanup, render, renderHook, screen } from "@testing-library/react";
import { anyApi } from "convex/server";
import { StrictMode, useEffect } from "react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Worker } from "../worker/index.js";
import type { WorkerState, WorkerStatus } from "../worker/events.js";
import { useWorker, type PageWorker } from "./index.js";

class FakeWorker implements PageWorker {
  status: WorkerStatus = {
    ...{ state: "starting", since: 0, startedAt: 0, isQuiet: false, done: 0, running: [] },
    slots: { used: 0, had: 1 },
  };
  stops = 0;
  /** Its stop takes until then. */
  drained: Promise<void> = Promise.resolve();
  private readonly listeners = new Set<() => void>();
  private end!: { resolve: () => void; reject: (error: unknown) => void };
  private readonly ended = new Promise<void>((resolve, reject) => {
    this.end = { resolve, reject };
  });

  run = () => this.ended;
  on(_kind: string, listener: () => void) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async stop() {
    this.stops += 1;
    this.status = { ...this.status, state: "draining" };
    await this.drained;
    this.status = { ...this.status, state: "stopped" };
    this.end.resolve();
  }

  async becomes(state: WorkerState, more: Partial<WorkerStatus> = {}) {
    await act(async () => {
      for (const listener of this.listeners) listener();
      // The change comes after its event.
      this.status = { ...this.status, state, ...more };
    });
  }

  async fails(error: Error) {
    await act(async () => {
      this.status = { ...this.status, state: "stopped" };
      this.end.reject(error);
    });
  }

  get isListenedTo() {
    return this.listeners.size > 0;
  }
}

let made: FakeWorker[] = [];
beforeEach(() => void (made = []));
afterEach(cleanup);

function usePageWorker() {
  return useWorker(() => {
    const worker = new FakeWorker();
    made.push(worker);
    return worker;
  });
}

function Page() {
  const { state, job, status, error, start, stop } = usePageWorker();
  return (
    <>
      <button onClick={start}>start</button>
      <button onClick={() => void stop()}>stop</button>
      <output>
        {[
          state,
          job?.id ?? "no job",
          status?.done ?? "-",
          error instanceof Error ? error.message : "fine",
        ].join(", ")}
      </output>
    </>
  );
}

const shown = () => screen.getByRole("status").textContent;
const click = (name: string) => act(async () => screen.getByText(name).click());

// Shows LF-38.
test("a page starts its worker, shows its state and its job, and stops it", async () => {
  render(<Page />);
  expect(shown()).toBe("stopped, no job, -, fine");
  expect(made).toEqual([]);
  await click("start");
  expect(shown()).toBe("starting, no job, 0, fine");
  await made[0]!.becomes("working", { running: [{ id: "a", queue: "tiles", attempt: 1 }] });
  expect(shown()).toBe("working, a, 0, fine");
  await made[0]!.becomes("waiting", { running: [], done: 1 });
  expect(shown()).toBe("waiting, no job, 1, fine");
  await click("stop");
  expect(shown()).toBe("stopped, no job, 1, fine");
  expect(made[0]!.isListenedTo).toBe(false);
});

test("a second start while one runs does nothing, and one after a stop makes another worker", async () => {
  render(<Page />);
  await click("start");
  await click("start");
  expect(made).toHaveLength(1);
  await click("stop");
  await click("start");
  expect(made).toHaveLength(2);
  expect(shown()).toBe("starting, no job, 0, fine");
});

test("the error that ended a run is shown until the next start", async () => {
  render(<Page />);
  await click("start");
  await made[0]!.fails(new Error("the token is revoked"));
  expect(shown()).toBe("stopped, no job, 0, the token is revoked");
  await click("start");
  expect(shown()).toBe("starting, no job, 0, fine");
});

// Shows LF-38.
test("a page that goes stops its worker, and a strict one, which is mounted twice, starts none by itself", async () => {
  const { unmount } = render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
  expect(made).toEqual([]);
  await click("start");
  unmount();
  expect(made.map(({ stops }) => stops)).toEqual([1]);
});

function Starting({ start }: { start: () => void }) {
  useEffect(start, [start]);
  return null;
}

test.each(["the page", "a part of it"])(
  "a start in an effect of %s works in a strict page too, with one worker after the other",
  async (where) => {
    function Eager() {
      const { state, start } = usePageWorker();
      useEffect(() => (where === "the page" ? start() : undefined), [start]);
      return (
        <>
          <output>{state}</output>
          {where === "the page" ? null : <Starting start={start} />}
        </>
      );
    }
    await act(async () => void render(<Eager />, { wrapper: StrictMode }));
    expect(shown()).toBe("starting");
    expect(made.at(-1)!.stops).toBe(0);
    expect(made.slice(0, -1).every(({ isListenedTo }) => !isListenedTo)).toBe(true);
  },
);

test("a start while the last worker ends takes place after its end, unless a stop comes first", async () => {
  render(<Page />);
  await click("start");
  let drained = () => {};
  made[0]!.drained = new Promise((resolve) => (drained = resolve));
  await click("stop");
  await click("start");
  await click("stop");
  await click("start");
  expect(made).toHaveLength(1);
  await act(async () => drained());
  expect(made).toHaveLength(2);
  expect(shown()).toBe("starting, no job, 0, fine");
  made[1]!.drained = new Promise((resolve) => (drained = resolve));
  await click("start");
  await click("stop");
  await click("start");
  await click("stop");
  await act(async () => drained());
  expect(made).toHaveLength(2);
  expect(shown()).toBe("stopped, no job, 0, fine");
});

test("a start between a worker's event `stopped` and the end of its run is not lost", async () => {
  render(<Page />);
  await click("start");
  await made[0]!.becomes("stopped");
  await click("start");
  await act(() => made[0]!.stop());
  expect(made).toHaveLength(2);
});

test("an error of the constructor is in `error`, until a start that works", async () => {
  function Broken() {
    const { state, error, start } = useWorker(() => {
      if (made.length > 0) throw new Error("no token");
      const worker = new FakeWorker();
      made.push(worker);
      return worker;
    });
    return (
      <>
        <button onClick={start}>start</button>
        <output>{error instanceof Error ? error.message : state}</output>
      </>
    );
  }
  const first = new FakeWorker();
  made.push(first);
  render(<Broken />);
  await click("start");
  expect(shown()).toBe("no token");
  made = [];
  await click("start");
  expect(shown()).toBe("starting");
});

test("a start after the page has gone makes no worker", async () => {
  const { result, unmount } = renderHook(usePageWorker);
  unmount();
  await act(async () => result.current.start());
  expect(made).toEqual([]);
});

test("a worker of the package fits", () => {
  const worker: PageWorker = new Worker({
    ...{ url: "http://127.0.0.1:1", token: "cvy_00000000_x", api: anyApi["worker"] as never },
    handlers: { tiles: async () => null } as never,
  });
  expect(worker.status.state).toBe("starting");
});

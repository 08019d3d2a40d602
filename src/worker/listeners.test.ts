import { afterEach, expect, expectTypeOf, test, vi } from "vitest";
import type { WorkerEvent } from "./events.js";
import { Listeners } from "./listeners.js";
import type { Worker } from "./worker.js";

const state = (now: "waiting" | "working"): WorkerEvent => ({
  kind: "state",
  state: now,
  before: "starting",
});

afterEach(() => vi.restoreAllMocks());

test("a listener as of an EventTarget gets a CustomEvent of its kind, until it is taken off", () => {
  const listeners = new Listeners(() => undefined);
  const got: unknown[] = [];
  const listener = (event: { type: string; detail: { state: string } }) => {
    expect(event).toBeInstanceOf(CustomEvent);
    got.push([event.type, event.detail.state]);
  };
  listeners.addEventListener("state", listener);
  // Twice the same is once, as on any target.
  listeners.addEventListener("state", listener);
  listeners.emit(state("waiting"));
  listeners.emit({ kind: "quiet", isQuiet: true, by: "worker" });
  listeners.removeEventListener("state", listener);
  listeners.removeEventListener("state", () => undefined);
  listeners.emit(state("working"));
  expect(got).toEqual([["state", "waiting"]]);
});

test("`once` and `signal` end the listening", () => {
  const listeners = new Listeners(() => undefined);
  const [once, aborted] = [vi.fn(), vi.fn()];
  const abort = new AbortController();
  listeners.addEventListener("state", once, { once: true });
  listeners.addEventListener("state", aborted, { signal: abort.signal });
  listeners.emit(state("waiting"));
  abort.abort();
  listeners.emit(state("working"));
  expect([once, aborted].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

test("a listener that throws ends neither the process nor the listeners after it", async () => {
  const console_ = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const listeners = new Listeners(() => undefined);
  const after = vi.fn();
  listeners.addEventListener("state", () => {
    throw new Error("not today");
  });
  listeners.addEventListener("state", after);
  listeners.emit(state("waiting"));
  // Node throws an error of such a listener in the next tick.
  await new Promise(setImmediate);
  expect(after).toHaveBeenCalledTimes(1);
  expect(console_.mock.calls[0]!.join(" ")).toContain("not today");
});

test("a listener that is async and throws does not end the process", async () => {
  const console_ = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const failing = vi
    .fn<() => void>()
    .mockReturnValue(Promise.reject(new Error("not today")) as never);
  const listeners = new Listeners(failing);
  listeners.on("state", failing);
  listeners.addEventListener("state", failing);
  listeners.emit(state("waiting"));
  await new Promise(setImmediate);
  expect(console_).toHaveBeenCalledTimes(3);
});

test("the detail is typed by the kind", () => {
  type Listens = Worker<any>["addEventListener"];
  const types = (listen: Listens) => {
    listen("finished", ({ type, detail }) => {
      expectTypeOf(type).toEqualTypeOf<"finished">();
      expectTypeOf(detail).toEqualTypeOf<Extract<WorkerEvent, { kind: "finished" }>>();
    });
    // @ts-expect-error: no such kind
    listen("finnished", () => undefined);
  };
  expectTypeOf(types).toBeFunction();
});

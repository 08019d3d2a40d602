/** Calm queries with a real client, against a scripted backend. Clocks are faked: how long a rest is, no busy machine changes. */
import { act, cleanup, render, screen } from "@testing-library/react";
import {
  ConvexProvider,
  useConvex,
  useMutation,
  useQuery,
  type ConvexReactClient,
} from "convex/react";
import { anyApi, type FunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { Component, useEffect, type ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestBackend } from "../dashboard/testing/backend.js";
import { CalmQueries } from "./CalmQueries.js";

const number = anyApi["app"]!["number"] as unknown as FunctionReference<
  "query",
  "public",
  Record<string, never>,
  number
>;
const set = anyApi["app"]!["set"] as unknown as FunctionReference<
  "mutation",
  "public",
  { to: number }
>;
const EVERY_MS = 400;
/** A message reaches its other end within this time, and the page shows it. */
const MOMENT_MS = 10;

let backend: TestBackend;
let client: ConvexReactClient;
let value = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  value = 0;
  backend = new TestBackend();
  backend.queries["app:number"] = () => value;
  client = backend.client();
});
afterEach(async () => {
  cleanup();
  vi.useRealTimers();
  await client.close();
});

function Shown() {
  const now = useQuery(number, {});
  const change = useMutation(set).withOptimisticUpdate((store, { to }) => {
    for (const { args } of store.getAllQueries(number)) store.setQuery(number, args, to);
  });
  return (
    <>
      <p>{now === undefined ? "loading" : `it is ${now}`}</p>
      <button onClick={() => void change({ to: 100 })}>Change</button>
    </>
  );
}

class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError = () => ({ failed: true });
  override render = () => (this.state.failed ? <p>refused</p> : this.props.children);
}

async function show(page: ReactNode = null, calm: ReactNode = <Shown />): Promise<void> {
  render(
    <ConvexProvider client={client}>
      {page}
      <CalmQueries everyMs={EVERY_MS}>
        <Boundary>{calm}</Boundary>
      </CalmQueries>
    </ConvexProvider>,
  );
  await pass(MOMENT_MS);
}

const pass = (ms: number) => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
const shown = () => screen.getAllByText(/./, { selector: "p" }).map((one) => one.textContent);
const isAsked = () => backend.asked.length > 0;

async function say(next: number): Promise<void> {
  value = next;
  act(() => backend.tell());
  await pass(MOMENT_MS);
}

test("a query that changes seldom is live, and stays subscribed", async () => {
  await show();
  expect(shown()).toEqual(["it is 0"]);
  for (const next of [1, 2]) {
    await pass(EVERY_MS);
    await say(next);
    expect(shown()).toEqual([`it is ${next}`]);
    expect(isAsked()).toBe(true);
  }
});

// Shows K14.
test("a query that changes at full speed rests, shows its last answer, and then the current one", async () => {
  await show();
  await say(1);
  expect(shown()).toEqual(["it is 1"]);
  expect(isAsked()).toBe(false);
  await say(2);
  await say(3);
  await pass(EVERY_MS - 5 * MOMENT_MS);
  expect(shown()).toEqual(["it is 1"]);
  expect(isAsked()).toBe(false);
  await pass(5 * MOMENT_MS);
  expect(shown()).toEqual(["it is 3"]);
  expect(isAsked()).toBe(true);
  // Nothing has changed since, and it is live again.
  await pass(EVERY_MS);
  await say(4);
  expect(shown()).toEqual(["it is 4"]);
  expect(isAsked()).toBe(true);
});

test("after a rest it shows what the client already knows, as where another part of the page asks the same", async () => {
  await show(<Shown />);
  expect(shown()).toEqual(["it is 0", "it is 0"]);
  await say(1);
  expect(shown()).toEqual(["it is 1", "it is 1"]);
  // The calm one rests.
  await say(2);
  expect(shown()).toEqual(["it is 2", "it is 1"]);
  await pass(EVERY_MS);
  expect(shown()).toEqual(["it is 2", "it is 2"]);
});

test("an optimistic update finds a query that rests, at once", async () => {
  let done: () => void = () => undefined;
  backend.mutations["app:set"] = ({ to }) =>
    new Promise((resolve) => {
      done = () => {
        value = to as number;
        resolve(null);
      };
    });
  await show();
  await say(1);
  expect(isAsked()).toBe(false);
  screen.getByText("Change").click();
  await pass(2 * MOMENT_MS);
  expect(shown()).toEqual(["it is 100"]);
  done();
  await pass(MOMENT_MS);
  expect(shown()).toEqual(["it is 100"]);
});

test("changes go out in the order in which they are asked for, though the first waits for a resting query", async () => {
  const order: unknown[] = [];
  backend.mutations["app:set"] = ({ to }) => order.push(to);
  function Asks() {
    const ask = useMutation(set);
    const askThrice = () => [1, 2, 3].forEach((to) => void ask({ to }));
    return (
      <>
        <Shown />
        <button onClick={askThrice}>Thrice</button>
      </>
    );
  }
  await show(null, <Asks />);
  await say(1);
  expect(isAsked()).toBe(false);
  screen.getByText("Thrice").click();
  await pass(EVERY_MS);
  expect(order).toEqual([1, 2, 3]);
  screen.getByText("Change").click();
  await pass(MOMENT_MS);
  expect(order).toEqual([1, 2, 3, 100]);
});

test("watches of one query rest together, also one that listens again after a later one has come", async () => {
  const clients: ConvexReactClient[] = [];
  function Takes() {
    const within = useConvex();
    useEffect(() => void clients.push(within), [within]);
    return null;
  }
  await show(null, <Takes />);
  const calm = clients[0]!;
  const heard = [0, 0];
  const watchAs = (which: number) => {
    const watch = calm.watchQuery(number, {});
    return { ...watch, listen: () => watch.onUpdate(() => (heard[which]! += 1)) };
  };
  const first = watchAs(0);
  first.listen()();
  const second = watchAs(1);
  const offs = [second.listen(), first.listen()];
  await pass(MOMENT_MS);
  await say(1);
  expect(isAsked()).toBe(false);
  expect([first, second].map((one) => one.localQueryResult())).toEqual([1, 1]);
  // A change of one's own ends the rest of both.
  const before = [...heard];
  backend.mutations["app:set"] = () => null;
  void calm.mutation(set, { to: 2 });
  await pass(2 * MOMENT_MS);
  expect(heard.map((count, which) => count > before[which]!)).toEqual([true, true]);
  for (const off of offs) for (let twice = 0; twice < 2; twice += 1) off();
  await pass(EVERY_MS);
  expect(isAsked()).toBe(false);
});

test("a query that refuses, throws; and one that no component shows is no longer asked for", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  await show();
  await say(1);
  expect(isAsked()).toBe(false);
  backend.queries["app:number"] = () => {
    throw new ConvexError("Not you.");
  };
  await pass(EVERY_MS);
  expect(shown()).toEqual(["refused"]);
  cleanup();
  await pass(2 * EVERY_MS);
  expect(isAsked()).toBe(false);
});

test("without a provider the error says where it must stand", () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  expect(() => render(<CalmQueries>none</CalmQueries>)).toThrow(
    "`CalmQueries` must stand within a `ConvexProvider`",
  );
  vi.restoreAllMocks();
});

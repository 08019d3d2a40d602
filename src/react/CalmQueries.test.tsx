/** Calm queries with a real client, against a scripted backend. */
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { ConvexProvider, useMutation, useQuery, type ConvexReactClient } from "convex/react";
import { anyApi, type FunctionReference } from "convex/server";
import { ConvexError } from "convex/values";
import { Component, type ReactNode } from "react";
import { afterEach, beforeEach, expect, test } from "vitest";
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

let backend: TestBackend;
let client: ConvexReactClient;
let value = 0;

beforeEach(() => {
  value = 0;
  backend = new TestBackend();
  backend.queries["app:number"] = () => value;
  client = backend.client();
});
afterEach(async () => {
  cleanup();
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

function show(): void {
  render(
    <ConvexProvider client={client}>
      <CalmQueries everyMs={EVERY_MS}>
        <Boundary>
          <Shown />
        </Boundary>
      </CalmQueries>
    </ConvexProvider>,
  );
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const reads = async (text: string) => await screen.findByText(text);
const isAsked = () => backend.asked.length > 0;

function say(next: number): void {
  value = next;
  backend.tell();
}

test("a query that changes seldom is live, and stays subscribed", async () => {
  show();
  await reads("it is 0");
  for (const next of [1, 2]) {
    await pause(EVERY_MS + 50);
    say(next);
    await reads(`it is ${next}`);
    expect(isAsked()).toBe(true);
  }
});

// Shows K14.
test("a query that changes at full speed rests, shows its last answer, and then the current one", async () => {
  show();
  await reads("it is 0");
  say(1);
  await reads("it is 1");
  await waitFor(() => expect(isAsked()).toBe(false));
  say(2);
  say(3);
  await pause(EVERY_MS / 4);
  expect(screen.getByText("it is 1")).toBeTruthy();
  await reads("it is 3");
  expect(isAsked()).toBe(true);
  // Nothing has changed since, and it is live again.
  await pause(EVERY_MS + 50);
  say(4);
  await reads("it is 4");
});

test("after a rest it shows what the client already knows, as where another part of the page asks the same", async () => {
  render(
    <ConvexProvider client={client}>
      <Shown />
      <CalmQueries everyMs={EVERY_MS}>
        <Shown />
      </CalmQueries>
    </ConvexProvider>,
  );
  await waitFor(() => expect(screen.getAllByText("it is 0")).toHaveLength(2));
  say(1);
  await waitFor(() => expect(screen.getAllByText("it is 1")).toHaveLength(2));
  say(2);
  await waitFor(() => expect(screen.getAllByText("it is 2")).toHaveLength(2));
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
  show();
  await reads("it is 0");
  say(1);
  await waitFor(() => expect(isAsked()).toBe(false));
  screen.getByText("Change").click();
  await waitFor(() => expect(screen.getByText("it is 100")).toBeTruthy(), {
    timeout: EVERY_MS / 2,
  });
  done();
  await pause(50);
  expect(screen.getByText("it is 100")).toBeTruthy();
});

test("a query that refuses, throws; and one that no component shows is no longer asked for", async () => {
  show();
  await reads("it is 0");
  say(1);
  await waitFor(() => expect(isAsked()).toBe(false));
  backend.queries["app:number"] = () => {
    throw new ConvexError("Not you.");
  };
  await reads("refused");
  cleanup();
  await pause(2 * EVERY_MS);
  expect(isAsked()).toBe(false);
});

/** The hook against a client that says what it is told. */
import { cleanup, render, screen } from "@testing-library/react";
import { ConvexProvider, type ConvexReactClient } from "convex/react";
import { anyApi, type FunctionReference } from "convex/server";
import { act } from "react";
import { afterEach, beforeEach, expect, expectTypeOf, test } from "vitest";
import { useJob, type JobStatus } from "./index.js";

type TileStatus = JobStatus<{ pixels: string }, "tiles">;
const status = anyApi["tiles"]!["status"] as unknown as FunctionReference<
  "query",
  "public",
  { id: string },
  TileStatus | null
>;

/** The part of the client that `useQuery` uses: one watch a query. */
class FakeClient {
  readonly watched: unknown[] = [];
  private value: TileStatus | null | undefined;
  private listeners = new Set<() => void>();

  watchQuery(_query: unknown, args: { id: string }) {
    this.watched.push(args);
    return {
      localQueryResult: () => this.value,
      onUpdate: (listener: () => void) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
      journal: () => undefined,
    };
  }

  say(value: TileStatus | null) {
    act(() => {
      this.value = value;
      for (const listener of this.listeners) listener();
    });
  }
}

let client: FakeClient;
beforeEach(() => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  client = new FakeClient();
});
afterEach(cleanup);

function Tile({ id }: { id: string }) {
  const job = useJob(status, id);
  expectTypeOf(job).toEqualTypeOf<TileStatus | null | undefined>();
  if (job === undefined) return <p>loading</p>;
  if (job === null) return <p>unknown</p>;
  return <p>{job.status === "succeeded" ? job.result.pixels : job.status}</p>;
}

const show = (id: string) =>
  render(
    <ConvexProvider client={client as unknown as ConvexReactClient}>
      <Tile id={id} />
    </ConvexProvider>,
  );

const common = { id: "a", queue: "tiles", enqueuedAt: 0, attempt: 1, failures: 0, resets: 0 };
const job = (rest: object) => ({ ...common, ...rest }) as TileStatus;

test("a job is followed from loading to its result", () => {
  show("a");
  expect(screen.getByText("loading")).toBeTruthy();
  client.say(job({ status: "pending" }));
  expect(screen.getByText("pending")).toBeTruthy();
  client.say(job({ status: "running", worker: "w", startedAt: 1 }));
  expect(screen.getByText("running")).toBeTruthy();
  const ended = { status: "succeeded", worker: "w", startedAt: 1, finishedAt: 2 };
  client.say(job({ ...ended, result: { pixels: "abc" } }));
  expect(screen.getByText("abc")).toBeTruthy();
  expect(client.watched).toContainEqual({ id: "a" });
});

test("an id that names no job is null, which is not loading", () => {
  show("nonsense");
  client.say(null);
  expect(screen.getByText("unknown")).toBeTruthy();
});

test("while there is no id, nothing is asked", () => {
  show("skip");
  expect(screen.getByText("loading")).toBeTruthy();
  expect(client.watched).toEqual([]);
});

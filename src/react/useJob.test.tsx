/** The hook against a scripted client. */
import { cleanup, render, screen } from "@testing-library/react";
import { ConvexProvider, type ConvexReactClient } from "convex/react";
import { anyApi, type FunctionReference } from "convex/server";
import { act, type ReactNode } from "react";
import { afterEach, beforeEach, expect, expectTypeOf, test, vi } from "vitest";
import type { EnqueueCall, StatusAnswers, StatusArgs } from "../shared/index.js";
import { useEnqueue, useJob, type JobId, type JobStatus } from "./index.js";

type TileStatus = JobStatus<{ pixels: string }, "tiles">;
type MailStatus = JobStatus<null, "mails", { percent: number }>;
/** As `api.jobs` of an app with two queues in its `conveyor.api`. */
const jobs = anyApi["jobs"] as unknown as {
  status: FunctionReference<
    "query",
    "public",
    StatusArgs,
    | ((TileStatus | MailStatus) & Partial<StatusAnswers>)
    | null
    | (((TileStatus | MailStatus) & Partial<StatusAnswers>) | null)[]
  >;
  enqueue: FunctionReference<
    "mutation",
    "public",
    EnqueueCall<
      { tiles: { payload: { x: number }; result: any }; sweeps: { payload: object; result: any } },
      "tiles" | "sweeps"
    >,
    JobId<"tiles"> | JobId<"sweeps"> | JobId<"tiles">[] | JobId<"sweeps">[]
  >;
};

/** The part of the client that `useQuery` uses: one watch a query. */
class FakeClient {
  readonly watched: unknown[] = [];
  readonly sent: unknown[] = [];
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

  mutation(_mutation: unknown, args: { payloads?: unknown[] }) {
    this.sent.push(args);
    return Promise.resolve(args.payloads === undefined ? "a" : ["a", "b"]);
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
  const job = useJob(jobs, id as JobId<"tiles"> | "skip");
  if (job === undefined) return <p>loading</p>;
  if (job === null) return <p>unknown</p>;
  return <p>{job.status === "succeeded" ? job.result.pixels : job.status}</p>;
}

const within = (page: ReactNode) => (
  <ConvexProvider client={client as unknown as ConvexReactClient}>{page}</ConvexProvider>
);
const show = (id: string) => render(within(<Tile id={id} />));

const common = { id: "a", queue: "tiles", enqueuedAt: 0, attempt: 1, failures: 0, resets: 0 };
const job = (rest: object) => ({ ...common, ...rest }) as TileStatus;

// Shows DE-05, DE-07, D12, K2.
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

test("further requests about a job go with its id", () => {
  function Why() {
    const job = useJob(jobs, "a", { why: true, attempts: 3 });
    return <p>{job?.why.reasons.map(({ text }) => text).join() ?? "loading"}</p>;
  }
  render(within(<Why />));
  expect(client.watched).toContainEqual({ id: "a", why: true, attempts: 3 });
});

test("result and progress have the types of the queue that the id remembers", () => {
  interface Ids {
    mail: JobId<"mails">;
    tile: JobId<"tiles">;
    other: JobId<"others">;
    any: string;
  }
  function Typed({ mail, tile, other, any }: Ids) {
    const one = useJob(jobs, mail);
    if (one?.status === "running") {
      expectTypeOf(one.progress).toEqualTypeOf<{ percent: number } | undefined>();
    }
    const two = useJob(jobs, tile, { options: true });
    if (two?.status === "succeeded") expectTypeOf(two.result).toEqualTypeOf<{ pixels: string }>();
    if (two) expectTypeOf(two.options.tags).toEqualTypeOf<string[] | undefined>();
    const both = useJob(jobs, any);
    if (both) expectTypeOf(both.queue).toEqualTypeOf<"tiles" | "mails">();
    // @ts-expect-error it was not asked for
    void one?.attempts.length;
    // @ts-expect-error an id of a queue that is not served
    useJob(jobs, other);
    // @ts-expect-error there is no request of this name
    useJob(jobs, tile, { logs: true });
    // @ts-expect-error a module without `status`
    useJob({ enqueue: jobs.enqueue }, tile);
    return null;
  }
  expect(Typed).toBeTypeOf("function");
});

test("a page enqueues one payload, none, or many, with the types of the queue", async () => {
  const made: unknown[] = [];
  const answers: unknown[] = [];
  function Buttons() {
    const tile = useEnqueue(jobs, "tiles");
    made.push(tile);
    const sweep = useEnqueue(jobs, "sweeps");
    const all = async () => {
      const id = await tile({ x: 1 });
      expectTypeOf(id).toEqualTypeOf<JobId<"tiles">>();
      answers.push(id, await tile.many([{ x: 1 }, { x: 2 }]), await sweep());
    };
    // @ts-expect-error `x` is a number
    void (() => tile({ x: "one" }));
    // @ts-expect-error it takes one
    void (() => tile());
    // @ts-expect-error no such queue
    useEnqueue(jobs, "mails");
    return <button onClick={() => void all()}>all</button>;
  }
  const { rerender } = render(within(<Buttons />));
  rerender(within(<Buttons />));
  expect(made[0]).toBe(made.at(-1));
  screen.getByText("all").click();
  await vi.waitFor(() => expect(answers).toEqual(["a", ["a", "b"], "a"]));
  expect(client.sent).toEqual([
    { queue: "tiles", payload: { x: 1 } },
    { queue: "tiles", payloads: [{ x: 1 }, { x: 2 }] },
    { queue: "sweeps" },
  ]);
});

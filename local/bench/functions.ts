/** The same through functions of an app, and subscriptions over sockets, on a whole backend. */
import path from "node:path";
import { ConvexClient } from "convex/browser";
import { convexToJson } from "convex/values";
import { push } from "../convexCli.js";
import { startBackend, type Backend } from "../backend.js";
import { api } from "../conformance/app/convex/_generated/api.js";
import type { Step } from "../conformance/app/convex/rows.js";
import { fill, scattered, type Kind } from "./engine.js";
import { rate } from "./rate.js";

export async function startFunctions(): Promise<Backend> {
  // The largest class: the figure is of the backend and not of a class's limits.
  const backend = await startBackend({
    port: 0,
    quiet: true,
    class: "d2048",
    runner: { classLimits: { writeBytesPerSecond: Number.MAX_SAFE_INTEGER } },
    database: { publishLatencyMs: 0 },
  });
  await push(path.join(import.meta.dirname, "../conformance/app"), backend);
  return backend;
}

/** Mutations, also where they only read: a query's answer would come from the cache. */
export async function measureFunctions(
  backend: Backend,
  rows: number,
  ms: number,
): Promise<Record<Kind, number>> {
  const group = `bench ${rows}`;
  const ids = await fill(backend.database, "rows", rows, (n) => ({ group, n, label: "bench" }));
  const next = scattered(rows);
  let inserted = rows;
  let requests = 0;
  const once = (steps: (at: number) => Step[]) => async () => {
    const at = next();
    const args = convexToJson({ group, ids: [ids[at]!], steps: steps(at) as never });
    const result = await backend.runner.mutation({ namespace: "", path: "rows:only" }, args, {
      identity: { kind: "none" },
      publicOnly: true,
      requestId: (++requests).toString(16),
    });
    if (!result.ok) throw new Error(result.message);
  };
  return {
    "point read": await rate(
      ms,
      once(() => [{ op: "get", at: 0 }]),
    ),
    "range of 100": await rate(
      ms,
      once((at) => [
        { op: "read", gte: Math.min(at, Math.max(0, rows - 100)), how: { take: 100 } },
      ]),
    ),
    "read-modify-write": await rate(
      ms,
      once(() => [
        { op: "get", at: 0 },
        { op: "patch", at: 0, value: { label: `bench ${++inserted}` } },
      ]),
    ),
    insert: await rate(
      ms,
      once(() => [{ op: "insert", n: ++inserted, label: "bench" }]),
    ),
  };
}

/** Subscriptions that are outdated, rerun and sent to their client, per second. */
export async function measureSubscriptions(
  backend: Backend,
  options: { clients: number; watched: number; ms: number },
): Promise<number> {
  const group = "bench subscriptions";
  const ids = await fill(backend.database, "rows", 1, () => ({ group, n: 0, label: "bench" }));
  let told = 0;
  let heard = () => {};
  const clients = Array.from({ length: options.clients }, () => {
    const client = new ConvexClient(backend.url, { logger: false });
    for (let i = 0; i < options.watched; i++) {
      // Queries of their own, all of which the one row outdates.
      const steps: Step[] = [{ op: "read" }, { op: "read", gt: 1e9 + i }];
      client.onUpdate(api.rows.look, { group, ids: [], steps }, () => {
        told += 1;
        heard();
      });
    }
    return client;
  });
  const all = options.clients * options.watched;
  const toldAll = (count: number) =>
    new Promise<void>((resolve) => {
      heard = () => told >= count && resolve();
      heard();
    });
  try {
    await toldAll(all);
    const [startedAt, before] = [performance.now(), told];
    for (let n = 1; performance.now() - startedAt < options.ms; n++) {
      const steps: Step[] = [{ op: "patch", at: 0, value: { n } }];
      await clients[0]!.mutation(api.rows.only, { group, ids, steps });
      await toldAll(before + n * all);
    }
    return Math.round(((told - before) / (performance.now() - startedAt)) * 1_000);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

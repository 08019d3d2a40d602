/**
 * The worker's calls for queues over the app's own tables: what a claim offers the component before, what becomes of the
 * claimed rows after, and which rows want their job's end. In the app's own transaction, beside the component's part of it. An
 * app without such a queue has no map here, and runs nothing of this.
 *
 * A claim reads for real: the rows that it offers, by id; of an announced queue with fewer rows than wanted the index up to its
 * end. Snapshot reads: the index. Writes: the rows taken. Conflicts with: a claim, a change or a deletion of the same rows.
 * A beat reads: the rows of its leases, as far as a bound in bytes.
 */
import type { GenericMutationCtx, GenericQueryCtx } from "convex/server";
import {
  CLAIM_MAX_BYTES,
  LEASES_MAX,
  OFFERED_MAX_BYTES,
  OFFERED_ROWS_MAX,
  rotate,
  type ClaimedJob,
  type Finished,
  type Lease,
  type OfferedRows,
  type TokenScope,
  type Waiting,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import { sizeOf } from "./rowTable.js";
import { TableQueue } from "./tableQueue.js";
import type { AnyQueue } from "./types.js";

type AnyTable = TableQueue<any, any, any, any>;
type Ctx = GenericMutationCtx<any>;

interface Wanted {
  queues: readonly string[];
  lookIn?: string[];
  groups?: string[];
  max: number;
}

interface Caller {
  token: string;
  sessionKey: string;
  name?: string;
}

export class RowClaims {
  private readonly tables: ReadonlyMap<string, AnyTable>;

  constructor(
    private readonly component: ComponentApi,
    queues: readonly AnyQueue[],
    private readonly know: (ctx: Ctx, token: string) => Promise<TokenScope>,
  ) {
    const tables = queues.filter((queue) => queue instanceof TableQueue && !queue.isLoop);
    this.tables = new Map(tables.map((queue) => [queue.name as string, queue as AnyTable]));
  }

  /**
   * The argument `rows` of the component's claim, if it is to have one. Before the token is known no row is read, and then of
   * the token's queues alone. Tables begin in turns: the first ones may have as many rows as a claim looks up.
   */
  async offer(
    ctx: Ctx,
    token: string,
    wanted: Wanted | undefined,
  ): Promise<{ rows?: OfferedRows[] }> {
    if (wanted === undefined || this.tables.size === 0 || wanted.groups !== undefined) return {};
    const { queues, lookIn = queues, max } = wanted;
    const named = [...new Set(queues)].filter(
      (name) => this.tables.has(name) && lookIn.includes(name),
    );
    // A number that is not whole bounds nothing; the component refuses it.
    const room = Number.isInteger(max) ? Math.min(Math.max(0, max), LEASES_MAX) : 0;
    if (named.length === 0 || room === 0) return {};
    const scope = await this.know(ctx, token);
    if (scope.groups !== null) return {};
    const own = named.filter((name) => scope.queues?.includes(name) !== false);
    const rows: OfferedRows[] = [];
    let left = { rows: OFFERED_ROWS_MAX, bytes: OFFERED_MAX_BYTES };
    for (const name of rotate(own, Math.random())) {
      if (left.rows <= 0 || left.bytes <= 0) break;
      const { bytes, ...found } = await rowsOf(ctx, this.tables.get(name)!, room);
      rows.push({ queue: name, ...found });
      left = { rows: left.rows - found.ids.length, bytes: left.bytes - bytes };
    }
    return rows.length === 0 ? {} : { rows };
  }

  /** Marks the claimed rows and gives their jobs the payloads; jobs of rows that are gone are ended, and left out. */
  async handOut<Reply extends { jobs: ClaimedJob[]; busyRows?: string[] }>(
    ctx: Ctx,
    caller: Caller,
    { busyRows = [], ...reply }: Reply,
  ): Promise<Omit<Reply, "busyRows">> {
    if (this.tables.size === 0) return reply;
    const payloads = new Map<string, unknown>();
    const finished: Finished[] = [];
    for (const [name, table] of this.tables) {
      const jobs = reply.jobs.filter(({ queue }) => queue === name);
      if (jobs.length === 0) continue;
      const rows = jobs.map(({ payload, attempt }) => ({
        ...{ row: typeof payload === "string" ? payload : "", attempt },
        ...(caller.name === undefined ? {} : { worker: caller.name }),
      }));
      const taken = await ctx.runMutation(table.table.functions().take, { rows });
      for (const [i, one] of taken.entries()) {
        const { id, attempt } = jobs[i]!;
        if (one.kind === "taken") payloads.set(id, one.payload);
        else if (one.kind === "tooMuch")
          finished.push({ id, attempt, outcome: { kind: "released" } });
        else if (one.kind === "failed")
          finished.push({ id, attempt, outcome: { kind: "failed", error: explain(name, one) } });
        else {
          await this.cancel(ctx, name, id, one.reason);
          finished.push({ id, attempt, outcome: { kind: "canceled" } });
        }
      }
    }
    if (finished.length > 0) {
      const { token, sessionKey } = caller;
      const args = { token, sessionKey, finished };
      await callComponent(() => ctx.runMutation(this.component.lib.takeBack, args));
    }
    await this.markBusy(ctx, busyRows);
    const jobs = reply.jobs
      .filter(({ id, queue }) => !this.tables.has(queue) || payloads.has(id))
      .map((job) => (payloads.has(job.id) ? { ...job, payload: payloads.get(job.id) } : job));
    return { ...reply, jobs };
  }

  /**
   * Asks for the end of jobs whose rows are gone or ask for it, before a beat, or a completion that is one: its answer then
   * says so. From a random lease on, so that each row has its turn where they are more bytes than one call reads.
   */
  async cancelGone(
    ctx: Ctx,
    token: string,
    leases: readonly Lease[] = [],
    maxBytes = CLAIM_MAX_BYTES,
  ): Promise<void> {
    if (this.tables.size === 0 || leases.length === 0) return;
    await this.know(ctx, token);
    const ids = leases.slice(0, LEASES_MAX).map(({ id }) => id);
    const jobs = await callComponent(() =>
      ctx.runQuery(this.component.lib.statusBatch, { ids }, SNAPSHOT),
    );
    let bytes = 0;
    for (const job of rotate(jobs, Math.random())) {
      if (bytes > maxBytes) return;
      const table = job?.status === "running" ? this.tables.get(job.queue) : undefined;
      if (table === undefined || job?.key === undefined) continue;
      const row = await table.rows.find(ctx, job.key);
      bytes += sizeOf(row);
      const reason = table.rows.whyEnded(row);
      if (reason !== null) await this.cancel(ctx, job.queue, job.id, reason);
    }
  }

  /** The subscription's answer, where rows of the app wait. */
  async hasRows(
    ctx: GenericQueryCtx<any>,
    token: string,
    { queues, groups }: { queues: string[]; groups?: string[] },
    answer: boolean | Waiting,
  ): Promise<boolean | Waiting> {
    if (this.tables.size === 0 || answer === true || groups !== undefined) return answer;
    if (typeof answer !== "boolean" && answer.more) return answer;
    for (const queue of queues) {
      const table = this.tables.get(queue);
      if (table === undefined) continue;
      const args = { token, queue };
      const wanted = await callComponent(() => ctx.runQuery(this.component.tables.wanted, args));
      if (wanted === null) continue;
      const { announced, functions } = table.table;
      const waits = announced
        ? wanted.announced
        : (await ctx.runQuery(functions().claimable, { max: 1 })).ids.length > 0;
      if (waits) return answer === false ? true : { ...answer, more: true };
    }
    return answer;
  }

  /**
   * A row that the app has made claimable while its job lives says so wrongly: it would stand at the head of the index, be
   * passed by every claim, and keep workers awake.
   */
  private async markBusy(ctx: Ctx, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const [name, { table }] of this.tables) {
      const rows = ids.filter((id) => ctx.db.normalizeId(name, id) !== null);
      const asked = rows.map((row) => ({ row }));
      if (rows.length > 0) await ctx.runMutation(table.functions().take, { rows: asked });
    }
  }

  private async cancel(ctx: Ctx, queue: string, id: string, reason: string): Promise<void> {
    const args = { id, queue, reason };
    await callComponent(() => ctx.runMutation(this.component.operate.cancelJob, args));
  }
}

const SNAPSHOT = { useStaleSnapshot: true } as const;

async function rowsOf(
  ctx: Ctx,
  table: AnyTable,
  room: number,
): Promise<Pick<OfferedRows, "ids" | "all"> & { bytes: number }> {
  const { functions, scatter, announced } = table.table;
  const { claimable } = functions();
  const max = room + scatter;
  let seen = await ctx.runQuery(claimable, { max }, SNAPSHOT);
  // Whether these are all, only a real read can say.
  if (announced && seen.all) seen = await ctx.runQuery(claimable, { max });
  const ids = scatter > 0 && seen.ids.length > room ? shuffled(seen.ids) : seen.ids;
  const found: string[] = [];
  const mayOffer = table.rows.mayOffer();
  for (const id of ids) {
    if (found.length >= room) break;
    if (mayOffer(await table.rows.find(ctx, id))) found.push(id);
  }
  const all = announced && seen.all && found.length === ids.length;
  return { ids: found, bytes: seen.bytes, ...(all ? { all } : {}) };
}

function shuffled(ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);
}

function explain(queue: string, { error }: { error: string }): string {
  return `The \`join\` of the queue "${queue}" failed, so no handler was run: ${error}`;
}

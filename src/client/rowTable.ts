/**
 * A table with rows that are jobs, in the app's own transactions: which rows wait, and what is written into a row when it is
 * claimed and when its job ends. The columns are the app's; a column that is not named is not written.
 */
import type { GenericMutationCtx, GenericQueryCtx } from "convex/server";
import { getConvexSize, v, type GenericId, type Infer, type Value } from "convex/values";
import {
  CLAIM_MAX_BYTES,
  errorText,
  findUnstorable,
  OFFERED_MAX_BYTES,
  OFFERED_ROWS_MAX,
  withoutUndefined,
} from "../shared/index.js";
import { inRange } from "./rowRange.js";
import type { TableQueueOptions } from "./tableTypes.js";

/** A claimed row, as `take` is asked for it. */
export const vTakenRow = v.object({
  row: v.string(),
  /** Absent where its job lives already: the row is only marked again. */
  attempt: v.optional(v.number()),
  worker: v.optional(v.string()),
});
export type TakenRow = Infer<typeof vTakenRow>;

/** Its answer: the worker's payload; or that the row is gone, or asks for its job's end; or the error of `join`. */
export type RowTaken =
  | { kind: "taken"; payload: Value }
  | { kind: "ended"; reason: string }
  | { kind: "failed"; error: string }
  | { kind: "tooMuch" };

/** The first rows that wait, with their bytes; `all` that there are. */
export interface FoundRows {
  ids: string[];
  bytes: number;
  all: boolean;
}

export type Row = Record<string, Value | undefined>;
export type AnyTableOptions = TableQueueOptions<any, any, any, any, any, any>;
export interface RowsEnd {
  id: string;
  payload: string;
  outcome: { status: "succeeded" | "failed" | "timedOut" | "canceled" } & Row;
  attempt: number;
  worker?: string;
}

const ROW_GONE = "It has no row.";
const ROW_CANCELED = "Its row asks for it.";
const ROW_CHANGED = "Its row waits no more.";

export class RowTable {
  constructor(
    private readonly table: string,
    private readonly options: AnyTableOptions,
  ) {}

  /** Reads the row, where the id is one of this table: a job of a plain queue that had this name has another payload. */
  async find(ctx: Pick<GenericQueryCtx<any>, "db">, id: unknown): Promise<Row | null> {
    const own = typeof id === "string" ? ctx.db.normalizeId(this.table, id) : null;
    return own === null ? null : ((await ctx.db.get(own)) as Row | null);
  }

  /** Whether a row says that it waits. */
  isPending(row: Row | null): boolean {
    const { columns, states } = this.options;
    return row !== null && row[columns.state] === states.pending;
  }

  /** Whether rows that were read for real may be offered: a snapshot may show them in the range when they are there no more. */
  mayOffer(): (row: Row | null) => boolean {
    const isInRange = inRange(this.range);
    return (row) => row !== null && this.isPending(row) && isInRange(row);
  }

  private get range(): (q: any) => unknown {
    const { range, columns, states } = this.options;
    return range ?? ((q) => q.eq(columns.state, states.pending) as unknown);
  }

  /** Why the job of a row is to end, if it is. */
  whyEnded(row: Row | null): string | null {
    const { cancel } = this.options.columns;
    if (row === null) return ROW_GONE;
    return cancel !== undefined && row[cancel] === true ? ROW_CANCELED : null;
  }

  async findRows(ctx: GenericQueryCtx<any>, max: number): Promise<FoundRows> {
    const most = Math.min(max, OFFERED_ROWS_MAX);
    const { rows, ...found } = await this.readRows(ctx, most, OFFERED_MAX_BYTES);
    return { ids: rows.map(({ _id }) => _id as string), ...found };
  }

  /** Reads: the first rows that wait, as many as are asked for, up to the one that has these bytes together. */
  async readRows(
    ctx: Pick<GenericQueryCtx<any>, "db">,
    max: number,
    maxBytes: number,
  ): Promise<{ rows: Row[]; bytes: number; all: boolean }> {
    const { index, order = "asc" } = this.options;
    const found: Row[] = [];
    let bytes = 0;
    const rows = ctx.db
      .query(this.table)
      .withIndex(index as never, this.range as never)
      .order(order);
    // No further than it takes: the range is a subscription's, too.
    for await (const row of rows) {
      found.push(row as Row);
      bytes += getConvexSize(row as Value);
      if (found.length >= max || bytes > maxBytes) return { rows: found, bytes, all: false };
    }
    return { rows: found, bytes, all: true };
  }

  /** Reads: these rows, up to a bound in bytes, and what `join` reads. Writes: the rows that do not say so yet. */
  async takeRows(ctx: GenericMutationCtx<any>, rows: readonly TakenRow[]): Promise<RowTaken[]> {
    const taken: RowTaken[] = [];
    let bytes = 0;
    for (const one of rows) {
      const isFull = bytes > CLAIM_MAX_BYTES;
      // A claim offers few bytes of rows that wait; rows of jobs that are tried again have no bound of their own.
      if (isFull && (one.attempt ?? 0) > 1) {
        taken.push({ kind: "tooMuch" });
        continue;
      }
      const row = await this.find(ctx, one.row);
      const reason = this.whyEnded(row) ?? this.whyNotTaken(one, row!);
      if (reason !== null || isFull) {
        await this.markRunning(ctx, one.row, row);
        taken.push(reason === null ? { kind: "tooMuch" } : { kind: "ended", reason });
        bytes += sizeOf(row);
      } else {
        const mine = await this.takeRow(ctx, one, row!);
        bytes += Math.max(sizeOf(row), mine.kind === "taken" ? getConvexSize(mine.payload) : 0);
        taken.push(mine);
      }
    }
    return taken;
  }

  /** The end of another row's job, in the very call that claims this one, may have given it a state of the app's. */
  private whyNotTaken({ attempt }: TakenRow, row: Row): string | null {
    const { columns, states } = this.options;
    const stands = this.isPending(row) || row[columns.state] === states.running;
    return attempt === 1 && !stands ? ROW_CHANGED : null;
  }

  /** A row that still said that it waits would be claimed again and again, and its end could not be written. */
  private async markRunning(
    ctx: GenericMutationCtx<any>,
    id: string,
    row: Row | null,
  ): Promise<void> {
    const { columns, states } = this.options;
    if (row !== null && this.isPending(row))
      await this.write(ctx, id, row, { [columns.state]: states.running });
  }

  private async takeRow(
    ctx: GenericMutationCtx<any>,
    { row: id, attempt, worker }: TakenRow,
    row: Row,
  ): Promise<RowTaken> {
    const { columns, states, join } = this.options;
    const isOurs = Object.values(states).includes(row[columns.state]);
    const marked = await this.write(ctx, id, row, {
      // A state of the app's own stays. One of an end is that of a job that was retried.
      ...(isOurs ? { [columns.state]: states.running } : {}),
      ...column(columns.attempts, attempt),
      ...column(columns.worker, worker),
      ...column(columns.startedAt, attempt === undefined ? undefined : Date.now()),
    });
    if (join === undefined || attempt === undefined)
      return { kind: "taken", payload: marked as Value };
    try {
      const payload: unknown = (await join(ctx, marked)) ?? null;
      // Found here it fails one attempt; in the reply it would undo the claim, and each claim after it.
      const found = findUnstorable(payload, "payload");
      if (found === null) return { kind: "taken", payload: payload as Value };
      return { kind: "failed", error: `${found.path} is ${found.got}. ${found.instead}` };
    } catch (error) {
      return { kind: "failed", error: errorText(error) };
    }
  }

  /**
   * The state that the app has written meanwhile is the app's: only a row that runs is given an end, and not by a late record
   * where it has an active job again.
   */
  async recordEnd(
    ctx: GenericMutationCtx<any>,
    end: RowsEnd,
    isActive: () => Promise<boolean>,
  ): Promise<null> {
    const { columns, states, record } = this.options;
    const { payload: id, outcome, worker, ...about } = end;
    const row = await this.find(ctx, id);
    if (row === null) return null;
    const state: unknown = states[outcome.status] ?? states.failed;
    const isOurs = row[columns.state] === states.running && !(await isActive());
    const written = await this.write(ctx, id, row, {
      ...(isOurs ? { [columns.state]: state as Value } : {}),
      ...column(columns.finishedAt, Date.now()),
      ...(columns.error === undefined ? {} : { [columns.error]: outcome["error"] }),
      ...(columns.result === undefined ? {} : { [columns.result]: outcome["result"] }),
    });
    const ended = { id: about.id, attempt: about.attempt, outcome, row: written };
    await record?.(ctx, { ...ended, ...(worker === undefined ? {} : { worker }) } as never);
    return null;
  }

  /** Writes the columns that say something else, and returns the row as it is then. */
  async write(ctx: GenericMutationCtx<any>, id: string, row: Row, columns: Row): Promise<Row> {
    const changed = Object.entries(columns).filter(([name, value]) => row[name] !== value);
    if (changed.length === 0) return row;
    const patch = Object.fromEntries(changed);
    await ctx.db.patch(id as GenericId<any>, patch);
    return withoutUndefined({ ...row, ...patch });
  }

  /** A row of a batch that is done, unless the app has decided about it. */
  async finish(ctx: GenericMutationCtx<any>, id: string): Promise<void> {
    const { columns, states } = this.options;
    const row = await this.find(ctx, id);
    if (row === null || !this.isPending(row)) return;
    await this.write(ctx, id, row, {
      [columns.state]: states.succeeded,
      ...column(columns.finishedAt, Date.now()),
    });
  }
}

/** In bytes. */
export function sizeOf(row: Row | null): number {
  return row === null ? 0 : getConvexSize(row);
}

function column(name: string | undefined, value: Value | undefined): Row {
  return name === undefined || value === undefined ? {} : { [name]: value };
}

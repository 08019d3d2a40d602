/**
 * A queue whose jobs are rows of the app's own table. The smallest design that keeps the worker's protocol: a row that waits
 * has no job. A claim reads the app's index, and the component inserts and leases a job with the row's id as key in that
 * transaction; retries, lost leases and `onComplete` are then those of every job. So there is no second protocol, and a
 * worker serves rows without knowing it.
 *
 * Of the app's functions three are called by name, made here with the app's own builders:
 * - `claimable`, a query: the ids of the first rows that wait. A claim runs it on a snapshot, and depends on the rows it
 *   takes alone; an idle worker's subscription runs it for one row.
 * - `take`, a mutation: marks claimed rows as running, and joins what the worker is given.
 * - `record`, a mutation: the queue's `onComplete`. Writes the row's state and the app's own results as one.
 *
 * `rowClaims.ts` calls the first two, in the functions of `workerApi`.
 */
import {
  internalMutationGeneric,
  internalQueryGeneric,
  type DocumentByName,
  type FunctionReference,
  type GenericDataModel,
  type GenericMutationCtx,
  type GenericQueryCtx,
  type RegisteredMutation,
  type RegisteredQuery,
  type TableNamesInDataModel,
} from "convex/server";
import { v, type GenericId, type VAny, type Value } from "convex/values";
import {
  CLAIM_MAX_BYTES,
  conveyorError,
  OFFERED_ROWS_MAX,
  checkInteger,
  LEASES_MAX,
  type ListedJob,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import type { ConveyorOptions } from "./definitions.js";
import { callComponent } from "./mounted.js";
import { Queue } from "./queue.js";
import {
  RowTable,
  vTakenRow,
  type AnyTableOptions,
  type FoundRows,
  type Row,
  type RowsEnd,
  type RowTaken,
  type TakenRow,
} from "./rowTable.js";
import type { CancelReply, RunsMutations, RunsQueries, ValueValidator } from "./types.js";

type Functions = {
  claimable: FunctionReference<"query", "internal", { max: number }, FoundRows>;
  take: FunctionReference<"mutation", "internal", { rows: TakenRow[] }, RowTaken[]>;
  record: FunctionReference<"mutation", "internal">;
  /** Of a queue with a `loop`, in place of these. */
  run: FunctionReference<"mutation", "internal">;
};

/** A queue of rows. Made by {@link Conveyor.tableQueue}. */
export class TableQueue<
  Table extends string,
  Payload,
  VResult extends ValueValidator = VAny,
  DataModel extends GenericDataModel = GenericDataModel,
> extends Queue<Table, VAny<Payload>, VResult, DataModel> {
  /** The rows that wait, for claims and subscriptions; to be exported by the module that `functions` names. */
  readonly claimable: RegisteredQuery<"internal", { max: number }, Promise<FoundRows>>;
  /** Marks claimed rows; to be exported by that module. */
  readonly take: RegisteredMutation<"internal", { rows: TakenRow[] }, Promise<RowTaken[]>>;
  /** Records the ends of jobs in their rows; to be exported by that module. */
  readonly record: RegisteredMutation<"internal", any, Promise<null>>;
  /** @internal */
  readonly table: { functions: () => Functions; scatter: number; announced: boolean };
  /** @internal */
  readonly rows: RowTable;
  private readonly size: number;

  /** @internal Use {@link Conveyor.tableQueue}. */
  constructor(
    component: ComponentApi,
    name: Table,
    options: AnyTableOptions,
    conveyor: ConveyorOptions = {},
  ) {
    const { functions, scatter = 0, announced = false, loop } = options;
    checkInteger("scatter", scatter, 0, OFFERED_ROWS_MAX - LEASES_MAX);
    if (loop !== undefined) checkInteger("loop.rows", loop.rows, 1, LOOP_ROWS_MAX);
    const named = () => (functions as unknown as () => Functions)();
    const ways =
      loop === undefined
        ? { onComplete: () => named().record }
        : { mutation: () => named().run, maxParallelism: 1, shards: 1 };
    super(component, name, { ...loopRetry(loop), ...queueOptions(options), ...ways }, conveyor);
    this.rows = new RowTable(name, options);
    this.size = loop?.rows ?? 0;
    this.table = { functions: named, scatter, announced };
    const { internalQuery = internalQueryGeneric, internalMutation = internalMutationGeneric } =
      conveyor;
    this.claimable = internalQuery({
      args: { max: v.number() },
      handler: (ctx: GenericQueryCtx<any>, { max }: { max: number }) =>
        this.rows.findRows(ctx, max),
    });
    this.take = internalMutation({
      args: { rows: v.array(vTakenRow) },
      handler: (ctx: GenericMutationCtx<any>, { rows }: { rows: TakenRow[] }) =>
        this.rows.takeRows(ctx, rows),
    });
    this.record = internalMutation({
      args: this.onCompleteArgs,
      handler: async (ctx: GenericMutationCtx<any>, end: RowsEnd) =>
        await this.rows.recordEnd(
          ctx,
          end,
          async () => (await this.byKey(ctx, end.payload)) !== null,
        ),
    });
  }

  /**
   * Announces rows, in the mutation that makes them claimable: an idle worker of an `announced` queue is asked at once, and a
   * loop over batches begins, unless it is under way. In any other queue it does nothing, since the workers' subscriptions
   * see the rows themselves.
   *
   * It reads one small row, and writes it where the last announcement has been worked off. With `loop` it reads a row that each
   * batch writes, and is an enqueue where no loop is under way.
   *
   * @throws `componentNotMounted`.
   * @example
   * await ctx.db.insert("documents", { status: "uploaded", … });
   * await documents.ping(ctx);
   */
  async ping(ctx: RunsMutations & RunsQueries): Promise<void> {
    if (this.isLoop) {
      const { turn } = await this.standing(ctx);
      await this.begin(ctx, turn);
    }
    if (!this.table.announced) return;
    const { name: queue, component } = this;
    await callComponent(() => ctx.runMutation(component.tables.announce, { queue }));
  }

  /**
   * Makes the mutation that works on the rows, a batch of them at a time, to be exported as `run` by the module that `functions`
   * names. The rows that still say so when the handler returns are no longer `pending` but `succeeded`; a handler that gives a
   * row another state has decided about that row. A batch, its rows' states and the cursor are one transaction. If the handler throws, nothing
   * of it stays, and the batch is tried again, by `retry`.
   *
   * @param handler Is given the first rows that wait, up to `loop.rows`, and the cursor that it returned last, at first `null`;
   * a cursor has up to 8 KiB. Nothing returned keeps it.
   * @example
   * export const run = documents.loop(async (ctx, { rows, cursor }) => {
   *   for (const row of rows) await ctx.db.insert("index", { document: row._id });
   *   return (cursor ?? 0) + rows.length;
   * });
   */
  loop(
    handler: (
      ctx: GenericMutationCtx<DataModel>,
      batch: {
        rows: DocumentByName<DataModel, Table & TableNamesInDataModel<DataModel>>[];
        cursor: any;
      },
    ) => unknown,
  ): RegisteredMutation<"internal", any, Promise<any>> {
    return this.mutation(async (ctx) => {
      await this.runBatch(ctx as GenericMutationCtx<any>, handler as never);
      return null;
    });
  }

  /**
   * Reads: the loop's row, rows that wait, as far as a batch goes, or to their end. Writes: the same, and enqueues the next
   * batch where there may be more rows. Conflicts with: an insert into the range that it has read, and an announcement; so a
   * row that comes at its end is in it, or begins the loop anew.
   */
  private async runBatch(
    ctx: GenericMutationCtx<any>,
    handler: (ctx: GenericMutationCtx<any>, batch: { rows: Row[]; cursor: unknown }) => unknown,
  ): Promise<void> {
    const { turn, cursor = null } = await this.standing(ctx);
    const { rows, all } = await this.rows.readRows(ctx, this.size, CLAIM_MAX_BYTES);
    if (rows.length === 0) return;
    if (!rows.every((row) => this.rows.isPending(row))) throw rangeTooWide(this.name);
    const next = (await handler(ctx, { rows, cursor: cursor as unknown })) as Value | undefined;
    for (const { _id } of rows) await this.rows.finish(ctx, _id as string);
    const to = { turn: turn + 1, cursor: next ?? (cursor as Value) };
    await callComponent(() =>
      ctx.runMutation(this.component.tables.advance, { queue: this.name, ...to }),
    );
    // The handler may have inserted rows, and while its batch is under way an announcement begins none.
    if (!all || (await this.rows.readRows(ctx, 1, CLAIM_MAX_BYTES)).rows.length > 0)
      await this.begin(ctx, turn + 1);
  }

  private async standing(ctx: RunsQueries) {
    return await callComponent(() =>
      ctx.runQuery(this.component.tables.loop, { queue: this.name }),
    );
  }

  /** Each batch has its turn as key: however often rows are announced, one loop is under way. */
  private async begin(ctx: RunsMutations, turn: number): Promise<void> {
    await super.enqueueUnique(ctx, {} as never, { key: `${turn}` } as never);
  }

  /**
   * The job of a row that has been claimed and has not ended: its status, attempts and worker. Null for a row that waits,
   * or whose job has ended.
   *
   * @throws `componentNotMounted`.
   * @example
   * const job = await documents.jobOf(ctx, document);
   * return job === null ? "waits or is done" : `attempt ${job.attempt}`;
   */
  async jobOf(ctx: RunsQueries, row: GenericId<Table>): Promise<ListedJob | null> {
    return await this.byKey(ctx, row);
  }

  /**
   * Ends the job of a row as {@link cancel} does, at once: its worker is told by its subscription. For the mutation that
   * deletes the row or gives it up; without this call a worker learns of either with its next beat.
   *
   * @returns What came of it; null for a row without an active job.
   * @throws `componentNotMounted`.
   * @example
   * await documents.cancelRow(ctx, document, { reason: "The user deleted it." });
   * await ctx.db.delete(document);
   */
  async cancelRow(
    ctx: RunsMutations & RunsQueries,
    row: GenericId<Table>,
    options: { reason?: string } = {},
  ): Promise<CancelReply | null> {
    const job = await this.byKey(ctx, row);
    return job === null ? null : await this.cancel(ctx, job.id, options);
  }

  /** Refused: a job of this queue is a row that the app inserts. */
  override enqueue(): Promise<never> {
    return Promise.reject(insertInstead(this.name));
  }

  /** Refused, as {@link enqueue}. */
  override enqueueUnique(): Promise<never> {
    return Promise.reject(insertInstead(this.name));
  }

  /** Refused, as {@link enqueue}. */
  override enqueueBatch(): Promise<never> {
    return Promise.reject(insertInstead(this.name));
  }

  /** Refused, as {@link enqueue}. */
  override replace(): Promise<never> {
    return Promise.reject(insertInstead(this.name));
  }

  /** @internal Refused, as {@link enqueue}, for a worker too. Batches of a loop are jobs. */
  override async newJob(...args: Parameters<Queue<Table, VAny<Payload>>["newJob"]>) {
    return this.isLoop
      ? await super.newJob(...args)
      : await Promise.reject(insertInstead(this.name));
  }

  /** @internal Whether Convex itself works on the rows, in batches. */
  get isLoop(): boolean {
    return this.size > 0;
  }
}

/** Rows of one batch. */
const LOOP_ROWS_MAX = 1_000;

/** A batch that fails is tried again for most of a day: the loop would stand still until the next announcement. */
const loopRetry = (loop: object | undefined) =>
  loop === undefined ? {} : { retry: { maxAttempts: 1_000, maxBackoffMs: 60_000 } };

/** The queue's own part of the options. */
function queueOptions(options: AnyTableOptions): Record<string, unknown> {
  const own = ["functions", "index", "range", "order", "columns", "states", "scatter", "announced"];
  const ours = [...own, "join", "record", "loop"];
  return {
    payload: v.any(),
    ...Object.fromEntries(Object.entries(options).filter(([name]) => !ours.includes(name))),
  };
}

/** They would be in each batch, and no batch the last. */
function rangeTooWide(queue: string): Error {
  return conveyorError(
    "invalidArgument",
    `The range of the queue "${queue}" has rows that do not wait. Let its \`index\` and \`range\` name the state \`pending\`.`,
    { argument: "range", queue },
  );
}

function insertInstead(queue: string): Error {
  return conveyorError(
    "invalidArgument",
    `The jobs of the queue "${queue}" are rows of the table "${queue}". Insert a row with the state that waits, and call ` +
      `\`${queue}.ping(ctx)\` where the queue is \`announced\`.`,
    { queue },
  );
}

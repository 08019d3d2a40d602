/** How an app defines its queues: the part of {@link Conveyor} that makes them. */
import type {
  GenericDataModel,
  IndexNames,
  NamedTableInfo,
  TableNamesInDataModel,
} from "convex/server";
import type { VAny } from "convex/values";
import { conveyorError, type Batching, type Tracer } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import type { Builders } from "./madeHandlers.js";
import { Queue } from "./queue.js";
import type { EmptyShape, QueueOptions, Shape, ValidatorOf } from "./queueOptions.js";
import { TableQueue } from "./tableQueue.js";
import type { RowOf, TableQueueOptions } from "./tableTypes.js";
import type { ValueValidator } from "./types.js";

/** Options of {@link Conveyor}. */
export interface ConveyorOptions extends Builders {
  schedulerShare?: number;
  tracer?: Tracer;
}

/** Makes queues, each name once. */
export abstract class Definitions<DataModel extends GenericDataModel> {
  private readonly names = new Set<string>();

  /** @internal */
  constructor(
    protected readonly component: ComponentApi,
    protected readonly options: ConveyorOptions,
  ) {}

  /**
   * Defines a queue. The definition in code is the source of its configuration: a changed one takes effect with the
   * first call after its deploy, for jobs that wait as well.
   *
   * @param name 1 to 64 letters, digits, `_` or `-`, and not `workpool`. The queue's jobs are found by it: a renamed queue is a new one.
   * @param options Validators, leases, retries, times, order, retention: see {@link QueueOptions}. All have defaults.
   * @throws `invalidArgument` for a name or number out of bounds, and for a name that is defined already.
   * @example
   * export const emails = conveyor.queue("emails", {
   *   payload: v.object({ to: v.string(), body: v.string() }),
   *   result: v.object({ messageId: v.string() }),
   *   leaseMs: 30_000,
   * });
   */
  queue<
    const Name extends string,
    Payload extends Shape = EmptyShape,
    VResult extends ValueValidator = VAny,
    VContext extends ValueValidator = VAny,
    VProgress extends ValueValidator = VAny,
    Batch extends Batching | undefined = undefined,
  >(
    name: Name,
    options: QueueOptions<Payload, VResult, VContext, VProgress> & { batch?: Batch } = {},
  ): Queue<Name, ValidatorOf<Payload>, VResult, DataModel, VContext, VProgress, Batch> {
    type Made = Queue<Name, ValidatorOf<Payload>, VResult, DataModel, VContext, VProgress, Batch>;
    const queue: Made = new Queue(this.component, name, options, this.options);
    this.define(name);
    return queue;
  }

  private define(name: string): void {
    if (this.names.has(name)) {
      throw conveyorError(
        "invalidArgument",
        `The queue "${name}" is defined twice. Define it in one module and import it from there.`,
        { queue: name },
      );
    }
    this.names.add(name);
  }

  /**
   * A queue over a table of the app: its jobs are rows, which the app inserts, and workers serve it as any other queue. The
   * queue has the table's name. Leases, attempts, retries and statistics are the component's; the row's state, and the columns
   * that are named, are written in the transactions that claim and end its job.
   *
   * @param table The table. Rows are claimed in the order of `index`, where their state is `states.pending`.
   * @param options See {@link TableQueueOptions}.
   * @throws `invalidArgument` for a name or number out of bounds, and for a name that is defined already.
   * @example
   * // convex/documents.ts
   * export const documents = conveyor.tableQueue("documents", {
   *   functions: () => internal.documents,
   *   index: "by_status", // ["status", "priority"]
   *   order: "desc",
   *   columns: { state: "status", finishedAt: "doneAt" },
   *   states: { pending: "uploaded", running: "reading", succeeded: "read", failed: "unreadable" },
   *   result: v.object({ text: v.string() }),
   *   record: async (ctx, { row, outcome }) => {
   *     if (outcome.status === "succeeded") await ctx.db.patch(row._id, { text: outcome.result.text });
   *   },
   * });
   * export const { claimable, take, record } = documents;
   */
  tableQueue<
    const Table extends TableNamesInDataModel<DataModel>,
    const Index extends IndexNames<NamedTableInfo<DataModel, Table>>,
    const State extends keyof RowOf<DataModel, Table> & string,
    VResult extends ValueValidator = VAny,
    Joined = RowOf<DataModel, Table>,
  >(
    table: Table,
    options: TableQueueOptions<DataModel, Table, Index, State, VResult, Joined>,
  ): TableQueue<Table, Joined, VResult, DataModel> {
    const queue = new TableQueue<Table, Joined, VResult, DataModel>(
      this.component,
      table,
      options,
      this.options,
    );
    this.define(table);
    return queue;
  }
}

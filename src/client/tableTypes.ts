/** The options of a queue over the app's own table, typed by the app's data model. Nothing here runs. */
import type {
  DocumentByName,
  GenericDataModel,
  GenericMutationCtx,
  GenericQueryCtx,
  IndexNames,
  IndexRange,
  IndexRangeBuilder,
  NamedIndex,
  NamedTableInfo,
  TableNamesInDataModel,
} from "convex/server";
import type { GenericValidator, VAny } from "convex/values";
import type { TypedOnCompleteArgs } from "../shared/index.js";
import type { Named, QueueOptions } from "./queueOptions.js";

export type RowOf<
  DataModel extends GenericDataModel,
  Table extends TableNamesInDataModel<DataModel>,
> = DocumentByName<DataModel, Table>;

type Column<Row> = keyof Row & string;

/** How the app's columns are called. A column that is not named is kept by the component alone. */
export interface RowColumns<Row, State extends Column<Row>> {
  /** Where the row stands: see {@link TableQueueOptions.states}. */
  state: State;
  /** `true` in it asks for the end of the row's job. */
  cancel?: Column<Row>;
  /** How often the row was claimed. */
  attempts?: Column<Row>;
  /** The name of the worker that has it, or had it last. */
  worker?: Column<Row>;
  /** When the current or last attempt began, in milliseconds. */
  startedAt?: Column<Row>;
  /** When its job ended. */
  finishedAt?: Column<Row>;
  /** The last error, of a job that did not succeed. */
  error?: Column<Row>;
  /** The worker's result. */
  result?: Column<Row>;
}

/** The values of the state's column. The app writes `pending`, Conveyor the other ones. */
export interface RowStates<State> {
  /** The row waits for a worker. */
  pending: State;
  /** It has a job that has not ended: one that runs, or waits for another attempt. */
  running: State;
  succeeded: State;
  failed: State;
  /** @default as `failed` */
  timedOut?: State;
  /** @default as `failed` */
  canceled?: State;
}

/** What `record` is told besides the row: as an `onComplete`. */
export type RowEnd<Row, Result> = Pick<
  TypedOnCompleteArgs<string, Result>,
  "id" | "outcome" | "attempt" | "worker"
> & {
  /** As the job's end has left it. */
  row: Row;
};

type Kept =
  | "leaseMs"
  | "graceMs"
  | "maxResets"
  | "retry"
  | "timeoutMs"
  | "shards"
  | "retention"
  | "logLevel"
  | "result";

/** How rows of a table are worked on. Durations and the rest as in {@link QueueOptions}. */
export interface TableQueueOptions<
  DataModel extends GenericDataModel,
  Table extends TableNamesInDataModel<DataModel>,
  Index extends IndexNames<NamedTableInfo<DataModel, Table>>,
  State extends Column<RowOf<DataModel, Table>>,
  VResult extends GenericValidator = VAny,
  Joined = RowOf<DataModel, Table>,
> extends Pick<QueueOptions<any, VResult>, Kept> {
  /**
   * The module that exports the queue's `claimable`, `take` and `record`, or with `loop` its `run`: a function that returns it,
   * so that the queue may stand in that module.
   * @example
   * functions: () => internal.documents
   */
  functions: Named;
  /** The index that finds rows that wait, in their order. Its first field is the state's column, unless `range` says more. */
  index: Index;
  /**
   * The part of the index with the rows that wait, and no others: a row leaves it by its state. A `loop` whose range has
   * another row fails.
   * @default (q) => q.eq(columns.state, states.pending)
   * @example
   * range: (q) => q.eq("region", "eu").eq("status", "uploaded")
   */
  range?: (
    q: IndexRangeBuilder<
      RowOf<DataModel, Table>,
      NamedIndex<NamedTableInfo<DataModel, Table>, Index>
    >,
  ) => IndexRange;
  /**
   * The direction in which the index is read, all of its fields together.
   * @default "asc"
   */
  order?: "asc" | "desc";
  /**
   * Has Convex itself work on the rows, up to `rows` of them in one transaction after the other, 1 to 1,000: a loop that
   * `ping` begins, and that ends when no row waits. The module exports `run`, made by {@link TableQueue.loop}. Workers
   * outside get no rows then, and neither `join` nor `record` is called.
   * @default workers outside claim the rows
   */
  loop?: { rows: number };
  columns: RowColumns<RowOf<DataModel, Table>, State>;
  states: RowStates<RowOf<DataModel, Table>[State]>;
  /**
   * How many rows beyond the ones that it takes a claim chooses among, at random, 0 to 64. With 0 rows are claimed strictly in
   * the index's order, and workers that claim at the same moment conflict over the first; see the guide for what either costs.
   * @default 0
   */
  scatter?: number;
  /**
   * Whether the app announces its rows, with `ping` in each mutation that makes rows claimable. Idle workers then
   * subscribe to one small row in place of the app's index: no worker is asked anew because a row was taken.
   * @default false: idle workers subscribe to the head of the index, and rows are found without a call
   */
  announced?: boolean;
  /**
   * The payload of a row's job, read in the transaction that claims it: the row with what belongs to it. If it throws, that
   * attempt fails, by the queue's `retry`.
   * @default the row
   */
  join?: (
    ctx: Pick<GenericQueryCtx<DataModel>, "db">,
    row: RowOf<DataModel, Table>,
  ) => Joined | Promise<Joined>;
  /**
   * The app's own results of a job's end, in the transaction that ends it: the state and the other columns are written before
   * this. It is an `onComplete`: if it throws, none of its writes and none of the columns' stay, and it is tried again
   * alone. Of a row that is gone it is not told.
   * @default the columns alone
   */
  record?: (
    ctx: GenericMutationCtx<DataModel>,
    end: RowEnd<RowOf<DataModel, Table>, VResult["type"]>,
  ) => void | null | Promise<void | null>;
}

/**
 * The calls of pages about jobs, and their answers: the types of the functions that `conveyor.api` builds, and of their
 * references. A function of Convex has one type of answer; `jobCalls` gives each call its own. No function here touches a job.
 */
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import type {
  Gauge,
  ListedJob,
  ListFilter,
  ListOrder,
  Per,
  Position,
  Reason,
  Stats,
} from "./observing.js";
import type { AttemptStatus } from "./reports.js";
import type { JobId, OwnJobId, QueueTypes, TypedJobStatus } from "./typed.js";

// --- A job ----------------------------------------------------------------------------------------

/** The options that a job was enqueued with, as far as it had any. */
export interface ShownOptions {
  priority?: number;
  key?: string;
  group?: string;
  tags?: string[];
  labels?: string[];
  cost?: number;
}

type Shown<Job> = Job extends unknown
  ? { [Field in keyof Job as Field extends keyof ShownOptions ? never : Field]: Job[Field] }
  : never;

/** A job as a page sees it: a union on `status`. `result` of a succeeded job is the return value of its handler. */
export type PageJob<Result = any, Queue extends string = string, Progress = any> = Shown<
  TypedJobStatus<Result, Queue, Progress>
>;

/** Parts that `status` has besides, where they are asked for. */
export type StatusRequests = {
  /** Why the job is not running, and how many are before it. Some hundred rows are read, and the page hears of claims. */
  why?: boolean;
  /** Its last attempts: 100, or so many, 1 to 1,000. */
  attempts?: boolean | number;
  /** The options it was enqueued with. */
  options?: boolean;
};

/** The answers to {@link StatusRequests}. */
export interface StatusAnswers {
  why: { reasons: Reason[]; position: Position | null };
  attempts: AttemptStatus[];
  options: ShownOptions;
}

type Requested<Requests extends StatusRequests> = {
  [
    Field in keyof StatusAnswers as Requests[Field] extends true | number ? Field : never
  ]: StatusAnswers[Field];
} & {
  [
    Field in keyof StatusAnswers as Requests[Field] extends true | number | false | undefined
      ? never
      : Field
  ]?: StatusAnswers[Field];
};

/** A job of a list. */
export type PageListedJob<Queue extends string = string> = Omit<ListedJob, "id" | "queue"> & {
  id: JobId<Queue>;
  queue: Queue;
};

/** The figures of a queue now, and with `per` its statistics by period. */
export type QueueStats = Gauge & Partial<Stats>;

/** Which periods `stats` adds to how the queue stands. */
export type StatsRequest = {
  /**
   * Adds `periods`. Minutes are kept for 62 days, hours for a year, days for five.
   * @default no periods
   */
  per?: Per;
  /**
   * How many periods, 1 to 1,000. With `per`.
   * @default 60
   */
  count?: number;
  /**
   * An instant in the last of them, milliseconds. With `per`.
   * @default now
   */
  until?: number;
};

// --- The functions' references --------------------------------------------------------------------

/** The arguments of `status`. */
export type StatusArgs =
  | ({ id: string } & StatusRequests)
  | { ids: string[] }
  | ({ queue: string; key: string } & StatusRequests);

type Query = FunctionReference<"query", "public", any, any>;
type Mutation = FunctionReference<"mutation", "public", any, any>;

/** A module with the `status` of `conveyor.api`, such as `api.jobs`. */
export interface StatusApi {
  status: Query;
}
/** A module with its `enqueue`. */
export interface EnqueueApi {
  enqueue: Mutation;
}
/** A module with its `list`. */
export interface ListApi {
  list: Query;
}
/** A module with its `stats`. */
export interface StatsApi {
  stats: Query;
}
/** A module with its `logs`. */
export interface LogsApi {
  logs: Query;
}
/** A module with its `output`. */
export interface OutputApi {
  output: Query;
}

/** Any job of a module's queues. */
type AnyJobOf<Api extends StatusApi> = Exclude<
  FunctionReturnType<Api["status"]>,
  null | readonly unknown[]
>;

/** The queues of a module. */
export type QueueOf<Api extends StatusApi> = AnyJobOf<Api>["queue"] & string;

/** The queue of an id by its brand; any of the module's, of a plain string. */
type QueueById<Api extends StatusApi, Id> = Id extends JobId<infer Queue> ? Queue : QueueOf<Api>;

/** The ids that a module's functions take: ids of its own queues, and plain strings. */
export type IdOf<Api extends StatusApi> = OwnJobIdOf<QueueOf<Api>>;
type OwnJobIdOf<Queue extends string> = Queue extends string ? OwnJobId<Queue> : never;

type OfQueue<Job, Queue> = Job extends { queue: Queue } ? Job : never;

/** The job that an id names: typed by the queue that the id's brand says. */
export type JobById<
  Api extends StatusApi,
  Id,
  Requests extends StatusRequests = Record<never, never>,
> = JobByQueue<Api, QueueById<Api, Id>, Requests>;

type JobByQueue<Api extends StatusApi, Queue, Requests extends StatusRequests> =
  OfQueue<AnyJobOf<Api>, Queue> extends infer Job
    ? Job extends unknown
      ? Omit<Job, keyof StatusAnswers> & Requested<Requests>
      : never
    : never;

/** The queues into which a module's `enqueue` puts jobs. */
export type EnqueueQueueOf<Api extends EnqueueApi> = FunctionArgs<Api["enqueue"]>["queue"] & string;

/** The payloads of a queue in `enqueueMany`. */
export type PayloadsOf<Api extends EnqueueApi, Queue> = Extract<
  FunctionArgs<Api["enqueue"]>,
  { queue: Queue; payloads: unknown }
>["payloads"];

/** The payload of a queue; it may be left out where the queue takes none. */
export type PayloadArgs<Api extends EnqueueApi, Queue> =
  PayloadsOf<Api, Queue> extends readonly (infer Payload)[]
    ? Record<never, never> extends Payload
      ? [payload?: Payload]
      : [payload: Payload]
    : never;

/** The queues of a module's `list`. */
export type ListQueueOf<Api extends ListApi> = FunctionArgs<Api["list"]>["queue"] & string;

/** The queues of a module's `stats`. */
export type StatsQueueOf<Api extends StatsApi> = FunctionArgs<Api["stats"]>["queue"] & string;

/** The jobs of a queue in a module's `list`, also of one that the app has written, with jobs of any queue. */
export type ListedOf<Api extends ListApi, Queue> = ListedIn<
  FunctionReturnType<Api["list"]>["page"][number],
  Queue
>;
type ListedIn<Job, Queue> = Job extends { queue: infer Own }
  ? Queue extends Own
    ? Job
    : never
  : never;

/** The options of a list besides its page. */
export type ListRequest<Queue extends string = string> = {
  queue: Queue;
  /** All that it names must hold. */
  filter?: ListFilter;
  /** `next`: as they are claimed, fall due, began, or ended. `newest`: the other way round. */
  order?: ListOrder;
};

// --- Calls with their types -----------------------------------------------------------------------

type Asks<Args, Answer> = [
  reference: FunctionReference<"query", "public", Args & Record<string, any>, Answer>,
  args: Args,
];
type Changes<Args, Answer> = [
  reference: FunctionReference<"mutation", "public", Args & Record<string, any>, Answer>,
  args: Args,
];

/**
 * Calls of the functions that `conveyor.api` builds, with the types of their answers: each is a reference and its arguments, as
 * every client of Convex takes them. The hooks of `convex-conveyor/react` do the same by themselves. `list`, `stats`, `logs`,
 * `output`, `cancel` and `retry` have one form, and need no help.
 *
 * @param api The module that exports the functions of `conveyor.api`, such as `api.jobs`.
 * @example
 * const jobs = jobCalls(api.jobs);
 * const id = await client.mutation(...jobs.enqueue("emails", { to, body }));
 * const job = await client.query(...jobs.status(id, { attempts: true }));
 * const all = useQuery(...jobs.statuses(ids));
 */
export function jobCalls<const Api extends Partial<StatusApi & EnqueueApi>>(api: Api) {
  const { status, enqueue } = api;
  type Reads = Api extends StatusApi ? Api : never;
  type Writes = Api extends EnqueueApi ? Api : never;
  return {
    /** How a job stands; null for an id that names none of these queues. */
    status: <
      const Id extends IdOf<Reads>,
      const Requests extends StatusRequests = Record<never, never>,
    >(
      id: Id,
      requests?: Requests & StatusRequests,
    ): Asks<{ id: string } & StatusRequests, JobById<Reads, Id, Requests> | null> => [
      status as never,
      { id, ...requests },
    ],

    /** How up to 100 jobs stand, in the order of their ids. */
    statuses: <const Id extends IdOf<Reads>>(
      ids: readonly Id[],
    ): Asks<{ ids: string[] }, (JobById<Reads, Id> | null)[]> => [
      status as never,
      { ids: [...ids] },
    ],

    /** The job of a queue that has a key. */
    byKey: <
      const Queue extends QueueOf<Reads>,
      const Requests extends StatusRequests = Record<never, never>,
    >(
      queue: Queue,
      key: string,
      requests?: Requests & StatusRequests,
    ): Asks<
      { queue: string; key: string } & StatusRequests,
      JobByQueue<Reads, Queue, Requests> | null
    > => [status as never, { queue, key, ...requests }],

    /** Puts a job into a queue; answers its id. */
    enqueue: <const Queue extends EnqueueQueueOf<Writes>>(
      queue: Queue,
      ...[payload]: PayloadArgs<Writes, Queue>
    ): Changes<{ queue: string; payload?: any }, JobId<Queue>> => [
      enqueue as never,
      { queue, ...(payload === undefined ? {} : { payload }) },
    ],

    /** Puts many jobs into a queue, all or none; answers their ids. */
    enqueueMany: <const Queue extends EnqueueQueueOf<Writes>>(
      queue: Queue,
      payloads: PayloadsOf<Writes, Queue>,
    ): Changes<{ queue: string; payloads: any[] }, JobId<Queue>[]> => [
      enqueue as never,
      { queue, payloads },
    ],
  };
}

// --- Functions of `conveyor.api`, by their types -------------------------------------------------

/** Any answer of `status` about these queues. */
export type AnyPageJob<Queues extends QueueTypes> = {
  [Queue in keyof Queues & string]: PageJob<
    Queues[Queue]["result"],
    Queue,
    Queues[Queue]["progress"]
  >;
}[keyof Queues & string] &
  Partial<StatusAnswers>;

/** The arguments of `enqueue`. */
export type EnqueueCall<Queues extends QueueTypes, Allowed> = {
  [Queue in keyof Queues & Allowed & string]:
    | (Record<never, never> extends Queues[Queue]["payload"]
        ? { queue: Queue; payload?: Queues[Queue]["payload"] }
        : { queue: Queue; payload: Queues[Queue]["payload"] })
    | { queue: Queue; payloads: Queues[Queue]["payload"][] };
}[keyof Queues & Allowed & string];

/** An id of any of these queues. */
export type AnyJobId<Queue extends string> = Queue extends string ? JobId<Queue> : never;
export type AnyListedJob<Queue extends string> = Queue extends string
  ? PageListedJob<Queue>
  : never;

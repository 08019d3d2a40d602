/**
 * One transaction: the real component's function, run by the local backend's own function runner from the point at which it
 * begins to its last line, and not committed. Its writes, reads and answer are a pure function of that point (and of the dice,
 * which are seeded); so it is run once for each, for any number of orders that begin it there.
 */
import { serialize } from "node:v8";
import type { DeploymentClass } from "../../local/functions/classes.js";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import type { EngineTransaction } from "../../local/engine/transaction.js";
import type { Database } from "../../local/engine/types.js";
import { wallEnvironment, type Environment } from "../../local/environment.js";
import { bytesInMemory } from "../../local/files/bytes.js";
import { createFiles } from "../../local/files/files.js";
import { limitsOf } from "../../local/functions/classes.js";
import { createEvents } from "../../local/functions/events.js";
import { inlineIsolation } from "../../local/functions/inlineIsolation.js";
import { runMutation } from "../../local/functions/mutations.js";
import { createPermits } from "../../local/functions/permits.js";
import { createQueries } from "../../local/functions/queries.js";
import { seededRandom, SEED_BYTES, type Random } from "../../local/functions/random.js";
import { runScheduled } from "../../local/functions/scheduledRuns.js";
import {
  ARGS_TABLE,
  SCHEDULED_TABLE,
  SYSTEM_TABLES,
  type ScheduledRow,
} from "../../local/functions/scheduledTable.js";
import type { Request, Services } from "../../local/functions/scope.js";
import type { Deployment, FunctionResult } from "../../local/functions/types.js";
import { keepSandboxes } from "../../local/virtual/keptSandboxes.js";
import { Point } from "./point.js";

/** Of a scheduled function. */
export function argsAt(point: Point, namespace: string, { argsId }: ScheduledRow): object {
  const row = point.rows(namespace, ARGS_TABLE).find(({ _id }) => _id === argsId);
  return (row!["args"] as object[])[0]!;
}

/** A caller's call, or, with `row`, one that the scheduler starts. */
export interface Call {
  kind: "mutation" | "query";
  namespace: string;
  path: string;
  args: object;
  row?: ScheduledRow;
  /** How far the clock of its machine is ahead (or, below zero, behind). */
  skewMs?: number;
}

/** Which snapshot its snapshot queries are given: its own, or the one before the latest commit. */
export type Looks = "new" | "old";

/** A call that has been run, and has not been committed. */
export interface Begun {
  call: Call;
  transaction: EngineTransaction;
  /** Its snapshot queries, each with its read set. With one, an older snapshot makes another transaction of the call. */
  looks: readonly EngineTransaction[];
  /** A function that failed, a query, and a scheduled function that found nothing to run have nothing to commit. */
  commits: boolean;
  /** `null` for a call that the scheduler starts: it has no caller. */
  result: FunctionResult | null;
}

/** Contexts of one deployment serve all its orders, whichever pair they are of. */
const SANDBOXES = keepSandboxes();

const EPOCH_MS = 1_700_000_000_000;
const CALLER: Request = { requestId: "order", identity: { kind: "none" }, scheduledBy: null };

/** Lanes are actions, and no transactions: `lane.ts` makes their calls. */
const ACTIONS = new Set(["push/laneAction:laneProcess"]);

export class Transactions {
  /** The time of all calls; it stands still while an order is played. */
  now = EPOCH_MS;
  readonly first: Point;
  readonly #known = new Map<Point, Map<Call | string, Partial<Record<Looks, Begun>>>>();
  readonly #services: Services;
  readonly #dice = new Map<Call | string, Partial<Record<Looks, Uint8Array>>>();
  readonly #seeds = seededRandom(new Uint8Array(SEED_BYTES).fill(1));
  #random: Random = seededRandom(new Uint8Array(SEED_BYTES));
  #skewMs = 0;
  #begin: () => EngineTransaction = () => {
    throw new Error("Nothing is being run.");
  };
  #committed: EngineTransaction | null = null;

  constructor(
    private readonly deployment: Deployment,
    options: { validates?: boolean; class?: DeploymentClass } = {},
  ) {
    const { validates = true, class: deploymentClass = "s16" } = options;
    const env = this.#environment();
    const schemas = [...deployment.instances].flatMap(([namespace, { definition }]) => [
      { namespace, tables: SYSTEM_TABLES, enforce: false },
      { namespace, tables: definition.tables, enforce: definition.schemaValidation },
    ]);
    this.first = Point.first(env, schemas, validates);
    this.#services = servicesOf(env, this.#database(), deployment, deploymentClass);
  }

  async begin(point: Point, call: Call, looks: Looks = "new"): Promise<Begun> {
    const here = this.#known.get(point) ?? new Map<Call | string, Partial<Record<Looks, Begun>>>();
    this.#known.set(point, here);
    const known = here.get(nameOf(call)) ?? {};
    here.set(nameOf(call), known);
    return (known[looks] ??= await this.#runWithDice(point, call, looks));
  }

  /** A call throws the same wherever it begins: then rows that many orders lead to are equal, with their ids. */
  async #runWithDice(point: Point, call: Call, looks: Looks): Promise<Begun> {
    const random = this.#random;
    const name = nameOf(call);
    const dice = this.#dice.get(name) ?? {};
    this.#dice.set(name, dice);
    this.#random = seededRandom((dice[looks] ??= this.#seeds.bytes(SEED_BYTES)));
    try {
      return await this.run(point, call, looks);
    } finally {
      this.#random = random;
    }
  }

  /** The calls that the scheduler would have to start by then, earliest first. */
  due(point: Point, until = this.now): Call[] {
    const rows = [...this.deployment.instances.keys()].flatMap((namespace) =>
      point
        .rows<ScheduledRow>(namespace, SCHEDULED_TABLE)
        .filter(({ state, due }) => state.kind === "pending" && due! <= until)
        .filter(({ target }) => !ACTIONS.has(target.path))
        .map((row) => ({ namespace, row })),
    );
    rows.sort((a, b) => a.row.due! - b.row.due! || (a.row._id < b.row._id ? -1 : 1));
    return rows.map(({ namespace, row }) => {
      const { target } = row;
      const args = argsAt(point, namespace, row);
      return { kind: "mutation", namespace, path: target.path, args, row };
    });
  }

  /** Equal for points with equal rows, whichever commits have led there. */
  contents(point: Point): string {
    const rows = [...this.deployment.instances.keys()].map((namespace) => point.tables(namespace));
    return serialize(rows).toString("latin1");
  }

  async run(point: Point, call: Call, looks: Looks = "new"): Promise<Begun> {
    let looked: EngineTransaction[] = [];
    let transaction = point.begin();
    this.#begin = () => {
      transaction = point.begin();
      looked = [];
      const seen = looks === "new" ? transaction : point.before!.begin();
      const staleSnapshot = seen.staleSnapshot.bind(seen);
      return Object.assign(transaction, {
        staleSnapshot: () => {
          const look = staleSnapshot();
          looked.push(look);
          return look;
        },
      });
    };
    this.#committed = null;
    this.#skewMs = call.skewMs ?? 0;
    const result = await this.#call(call);
    const commits = this.#committed !== null;
    return { call, transaction: this.#committed ?? transaction, looks: looked, commits, result };
  }

  async #call(call: Call): Promise<FunctionResult | null> {
    const { namespace, path, row } = call;
    if (row !== undefined) {
      const noActions = () => Promise.reject(new Error(`${path} is an action: no transaction.`));
      await runScheduled(this.#services, noActions, namespace, row);
      return null;
    }
    const args: JSONValue = convexToJson(call.args as Value);
    const asked = { address: { namespace, path }, args, request: CALLER, publicOnly: false };
    if (call.kind === "mutation") return await runMutation(this.#services, asked);
    const queries = createQueries(this.#services);
    return await queries.run({ ...asked, journal: null });
  }

  /** Time that stands still, so that no limit of time is ever reached, and dice of its own. */
  #environment(): Environment {
    const bytes = (length: number) => this.#random.bytes(length);
    return {
      now: () => this.now + this.#skewMs,
      random: () => this.#random.next(),
      randomBytes: bytes,
      pause: () => Promise.resolve(),
      spend: () => Promise.resolve(),
      sleep: () => Promise.reject(new Error("Nothing conflicts before it commits.")),
      timer: () => ({ cancel: () => {} }),
      outside: (work) => work,
      fetch: wallEnvironment.fetch,
    };
  }

  /** The database of the functions: begins at the given point, and records a commit instead of making it. */
  #database(): Database {
    const begin = () => this.#begin();
    const database: Partial<Database> = {
      begin,
      get latestTs() {
        return begin().beginTs;
      },
      commit: (transaction) => {
        this.#committed = transaction as EngineTransaction;
        return Promise.resolve(transaction.beginTs);
      },
      onPublish: () => () => {},
    };
    return database as Database;
  }
}

/** A scheduled function is the same one wherever its row is found; any other call is one by itself. */
export function nameOf(call: Call): Call | string {
  return call.row?._id ?? call;
}

function servicesOf(
  env: Environment,
  database: Database,
  deployment: Deployment,
  deploymentClass: DeploymentClass,
): Services {
  const limits = limitsOf(deploymentClass);
  return {
    env,
    database,
    events: createEvents(),
    sandboxes: inlineIsolation(env, { sandboxes: SANDBOXES }),
    files: createFiles({ bytes: bytesInMemory(), origin: "http://127.0.0.1", secret: "none" }),
    permits: createPermits(env, limits, () => {}),
    runningActions: new Set(),
    writeRate: { check: () => {}, close: () => {} },
    deployment: () => deployment,
    options: {
      ...{ class: deploymentClass, limits, deploymentName: "orders", actionOperations: Infinity },
      ...{
        actionTimeoutMs: { v8: Infinity, node: Infinity },
        cronSplayMs: 0,
        userTimeMs: Infinity,
      },
    },
  };
}

/** The caller's answer; throws the refusal. */
export function answerOf<T>({ call: { path }, result }: Begun): T {
  if (result === null)
    throw new Error(`${path} has no caller that gets its answer: the scheduler starts it.`);
  if (!result.ok)
    throw Object.assign(new Error(`${path}: ${result.message}`), { data: result.data });
  return jsonToConvex(result.value) as T;
}

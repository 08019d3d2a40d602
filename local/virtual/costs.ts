/**
 * The durations of work on the platform: a model, for simulations. Its numbers are of one place so that they can be
 * doubted in one place. Two of them are named by the platform's source, and say where; all other constants say
 * ASSUMPTION, and give their grounds. No conclusion should hang on one of them: vary it (`CostOptions`) and compare.
 *
 * Not modelled are the platform's index cache across transactions, the hop to another process for each function, and the
 * committer's bounded queue and batches: see `local/README.md`.
 *
 * It knows kinds of work (`Step`), not their callers.
 */
import type { Step, UserWork } from "../environment.js";
import type { DeploymentClass } from "../functions/classes.js";
import type { RandomStream } from "./random.js";

const MIB = 1 << 20;

/** All in milliseconds, as medians: each draw is spread around it by `jitter`. */
export interface CostConstants {
  /**
   * One SQL round trip of a read. common/src/knobs.rs:911-917 reckons with 1.6 ms per query on average, which a median
   * of 1.5 comes to with the spread of S256.
   */
  readRoundTripMs: number;
  /** Each document of a read on top. ASSUMPTION: decoding and handing a small document to JavaScript. */
  documentReadMs: number;
  /** A mebibyte read. ASSUMPTION: 1 Gbit/s, and parsing. */
  readMibMs: number;
  /**
   * A read asks for as many rows as its caller wants, dead entries among them, and for twice as many each time that these
   * are not enough, up to so many. mysql/src/v5/persistence.rs:990-997; knobs.rs:1137: MYSQL_MAX_QUERY_DYNAMIC_BATCH_SIZE.
   */
  largestGrownBatch: number;
  /** A write stays in the transaction's memory until it commits. ASSUMPTION: JavaScript's cost of a system call. */
  writeMs: number;
  /** A mebibyte written. ASSUMPTION: as long as to read it. */
  writeMibMs: number;
  /** Storing a commit. ASSUMPTION: a replicated SQL insert, about twice a read's round trip. */
  persistMs: number;
  /** Each document of a commit on top. ASSUMPTION: a row of an insert of many, with its index entries. */
  persistDocumentMs: number;
  /** A mebibyte of a commit. ASSUMPTION: 1 Gbit/s to two machines. */
  persistMibMs: number;
  /** A function starts: a context in an isolate, its modules evaluated. ASSUMPTION: its duration in V8 here. */
  contextMs: number;
  /**
   * The same for a nested call, always in a fresh context (isolate: SUBFUNCTIONS_IN_SAME_ISOLATE is false). ASSUMPTION:
   * its duration in V8 here, with the isolate there already.
   */
  nestedContextMs: number;
  /** JavaScript's own time for one system call. ASSUMPTION: JSON both ways for a small document. */
  userPerCallMs: number;
  /** JavaScript's own time for one start. ASSUMPTION: evaluating modules that are compiled. */
  userPerStartMs: number;
  /**
   * From a function's due time to its start, with a free place in the executor, beside the scheduler's reads.
   * ASSUMPTION: it receives the commit that schedules the function, and hands the function on. How late it is under
   * load comes from the class's parallelism, not from here.
   */
  dispatchMs: number;
  /**
   * From a permit's release to the next function's start. ASSUMPTION: a wake-up within one process. How long one waits
   * for a permit comes from the class's limits, not from here.
   */
  permitMs: number;
  /** From a client to the backend or back. ASSUMPTION: a client on the same continent. */
  networkMs: number;
}

export const DEFAULT_COSTS: CostConstants = {
  readRoundTripMs: 1.5,
  documentReadMs: 0.01,
  readMibMs: 10,
  largestGrownBatch: 8,
  writeMs: 0.03,
  writeMibMs: 10,
  persistMs: 3,
  persistDocumentMs: 0.02,
  persistMibMs: 20,
  contextMs: 2,
  nestedContextMs: 1.5,
  userPerCallMs: 0.05,
  userPerStartMs: 0.5,
  dispatchMs: 2,
  permitMs: 0.05,
  networkMs: 15,
};

/**
 * How far draws lie from the median: the standard deviation of the logarithm. ASSUMPTION: machines that many
 * deployments share are less even than one's own; at 0.5 one draw in a hundred takes more than three times the median.
 */
export const JITTER: Record<DeploymentClass, number> = {
  s16: 0.5,
  s256: 0.4,
  d1024: 0.25,
  d2048: 0.25,
};

export interface CostOptions {
  class: DeploymentClass;
  /** Where draws come from. */
  random: RandomStream;
  constants?: Partial<CostConstants>;
  /** Defaults to the class's. 0: every draw is the median. */
  jitter?: number;
}

export interface Costs {
  readonly constants: CostConstants;
  /** How long a step takes, JavaScript's own time included. */
  of(step: Step): number;
  /** JavaScript's own time alone: the platform's limit of one second is on this. */
  user(of: UserWork): number;
  /** One way between a client and the backend. */
  network(): number;
}

export function createCosts({
  class: of,
  random,
  constants,
  jitter = JITTER[of],
}: CostOptions): Costs {
  const cost = { ...DEFAULT_COSTS, ...constants };
  for (const [name, value] of Object.entries(cost)) {
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`A cost is 0 or more milliseconds; ${name} is ${String(value)}.`);
    }
  }
  const spread = (ms: number): number =>
    ms === 0 || jitter === 0 ? ms : ms * Math.exp(jitter * random.normal());
  return {
    constants: cost,
    of: (step) => spread(systemTime(cost, step)) + userTime(cost, step),
    user: (of) => (of === "start" ? cost.userPerStartMs : cost.userPerCallMs),
    network: () => spread(cost.networkMs),
  };
}

function systemTime(cost: CostConstants, step: Step): number {
  switch (step.kind) {
    case "read":
      return (
        (step.isThere ? 0 : cost.readRoundTripMs * roundTrips(cost, step)) +
        cost.documentReadMs * step.documents +
        (cost.readMibMs * step.bytes) / MIB
      );
    case "write":
      return cost.writeMs + (cost.writeMibMs * step.bytes) / MIB;
    case "persist":
      return (
        cost.persistMs +
        cost.persistDocumentMs * step.documents +
        (cost.persistMibMs * step.bytes) / MIB
      );
    case "context":
      return step.nested ? cost.nestedContextMs : cost.contextMs;
    case "dispatch":
      return cost.dispatchMs;
    case "permit":
      return cost.permitMs;
  }
}

/** Batches until there are as many rows as are wanted, or one that is not full says that there are no more. */
function roundTrips(
  { largestGrownBatch }: CostConstants,
  { documents, tombstones, wanted = documents }: Step & { kind: "read" },
): number {
  let batch = Math.max(1, wanted);
  let left = tombstones + (documents < batch ? documents + 1 : documents);
  let trips = 0;
  for (; left > 0 && batch < largestGrownBatch; trips++) {
    left -= batch;
    batch = Math.min(2 * batch, largestGrownBatch);
  }
  return trips + Math.max(0, Math.ceil(left / batch));
}

/** JavaScript's share of a step. */
export function userTime(cost: CostConstants, step: Step): number {
  switch (step.kind) {
    case "read":
    case "write":
      return cost.userPerCallMs;
    case "context":
      return cost.userPerStartMs;
    case "persist":
    case "dispatch":
    case "permit":
      return 0;
  }
}

/**
 * Whether a worker may claim now, and under which conditions: its limits first, then the app's `beforeClaim`. An answer
 * that takes time is waited for beside the loop, so that outcomes never wait for it. It makes no calls of its own.
 */
import {
  checkInteger,
  CLAIM_GROUPS_MAX,
  checkLength,
  conveyorError,
  COST_MAX,
  LEASES_MAX,
  type PeekedJob,
} from "../shared/index.js";
import type { Clock } from "./clock.js";
import { messageOf } from "./errors.js";
import type { WorkerEvent, WorkerStatus } from "./events.js";
import type { ClaimConditions, Hooks, PeekOptions } from "./hookTypes.js";
import { HELD_BACK_MS } from "./limits.js";
import { andThen, isPromise, limitReached, type Limit, type Load } from "./pressure.js";

/** The offer of the worker, which conditions narrow. */
export interface Offered {
  queues: readonly string[];
  labels: readonly string[];
  groups: readonly string[];
}

export interface GateDeps {
  clock: Clock;
  hooks: Pick<Hooks, "beforeClaim" | "backPressure">;
  offered: Offered;
  load: Load | undefined;
  status: () => WorkerStatus;
  peek: (options?: PeekOptions) => Promise<PeekedJob[]>;
  emit: (event: WorkerEvent) => void;
  /** An answer has come. */
  wake: () => void;
}

/** Of a claim without any. */
const OPEN: ClaimConditions = {};

export class Gate {
  private isAsking = false;
  private answer: { conditions: ClaimConditions; until: number } | undefined;
  private closedUntil = -Infinity;
  private heldBackBy: Limit | null = null;

  constructor(private readonly deps: GateDeps) {}

  /** The conditions of a claim of up to `max` jobs now, or null: then no claim may go. */
  ask(max: number, maxCost: number | undefined): ClaimConditions | null {
    const { hooks, clock, wake } = this.deps;
    if (hooks.beforeClaim === undefined && hooks.backPressure === undefined) return OPEN;
    const given = this.takeAnswer();
    if (given !== undefined) return given;
    if (this.isAsking || clock.now() < this.closedUntil) return null;
    const decided = this.decide(max, maxCost);
    if (!isPromise(decided)) return this.closedIf(decided);
    this.isAsking = true;
    void decided.then((later) => {
      this.isAsking = false;
      const conditions = this.closedIf(later);
      if (conditions !== null) this.answer = { conditions, until: clock.now() + HELD_BACK_MS };
      wake();
    });
    return null;
  }

  /** From when a claim may be asked about, or null: when an answer comes. */
  opensAt(): number | null {
    return this.isAsking ? null : this.closedUntil;
  }

  private takeAnswer(): ClaimConditions | undefined {
    const { answer } = this;
    this.answer = undefined;
    return answer !== undefined && answer.until > this.deps.clock.now()
      ? answer.conditions
      : undefined;
  }

  private closedIf(decided: ClaimConditions | null): ClaimConditions | null {
    if (decided === null) this.closedUntil = this.deps.clock.now() + HELD_BACK_MS;
    return decided;
  }

  private decide(
    max: number,
    maxCost: number | undefined,
  ): ClaimConditions | null | Promise<ClaimConditions | null> {
    const { hooks, load } = this.deps;
    const limit = this.guarded("backPressure", () => limitReached(hooks.backPressure ?? {}, load));
    return andThen(limit, (by) => {
      if (by === undefined) return null;
      this.heldBack(by);
      if (by !== null) return null;
      const asked = this.guarded("beforeClaim", () => this.askHook(max, maxCost));
      return andThen(asked, (conditions) => conditions ?? null);
    });
  }

  private askHook(
    max: number,
    maxCost: number | undefined,
  ): ClaimConditions | null | Promise<ClaimConditions | null> {
    const { hooks, status, peek, offered } = this.deps;
    const budget = maxCost === undefined ? {} : { maxCost };
    const decision = hooks.beforeClaim?.({ max, ...budget, status: status(), peek });
    return andThen(decision, (answer) => {
      if (answer === false) return null;
      if (typeof answer !== "object" || answer === null) return OPEN;
      return checkConditions(answer, offered);
    });
  }

  /** A hook that throws must not bring down the worker: the claim is left out. Undefined then. */
  private guarded<Answer>(
    hook: "backPressure" | "beforeClaim",
    ask: () => Answer | Promise<Answer>,
  ): Answer | undefined | Promise<Answer | undefined> {
    const failed = (error: unknown): undefined => {
      this.deps.emit({ kind: "hookFailed", hook, error: messageOf(error) });
    };
    try {
      const answer = ask();
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  }

  private heldBack(by: Limit | null): void {
    if (by === this.heldBackBy) return;
    this.heldBackBy = by;
    this.deps.emit({ kind: "backPressure", by });
  }
}

/** They only narrow: the worker's subscriptions and its fleet go by its options. */
function checkConditions(conditions: ClaimConditions, offered: Offered): ClaimConditions {
  const { maxCost, queues, ids, labels, groups } = conditions;
  if (ids !== undefined && queues !== undefined) throw idsAndQueues();
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
  if (ids !== undefined) checkLength("The ids of a claim", ids, 0, LEASES_MAX);
  checkAmong("queues", queues, offered.queues);
  checkAmong("labels", labels, offered.labels);
  if (groups !== undefined) checkLength("The groups of a claim", groups, 1, CLAIM_GROUPS_MAX);
  if (offered.groups.length > 0) checkAmong("groups", groups, offered.groups);
  return conditions;
}

function idsAndQueues(): Error {
  return conveyorError(
    "invalidArgument",
    "The conditions that beforeClaim returns may have `ids` or `queues`, not both. Choose the ids from jobs of these queues.",
    { argument: "ids" },
  );
}

function checkAmong(
  name: string,
  wanted: readonly string[] | undefined,
  offered: readonly string[],
): void {
  const stranger = wanted?.find((one) => !offered.includes(one));
  if (stranger === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `The ${name} that beforeClaim returns must be among the worker's own, ${offered.join(", ") || "none"}; got "${stranger}".`,
    { argument: name, got: stranger },
  );
}

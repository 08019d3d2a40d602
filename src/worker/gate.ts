/**
 * Whether a worker may claim now, and under which conditions: its limits first, then the app's `beforeClaim`. An answer
 * that takes time is waited for beside the loop, so that outcomes never wait for it. It makes no calls of its own.
 */
import {
  checkInteger,
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
import { andThen, limitReached, type Limit, type Load } from "./pressure.js";

/** What the worker offers, which conditions narrow. */
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
    const decided = this.guarded(() => this.decide(max, maxCost));
    if (!(decided instanceof Promise)) return this.closedIf(decided);
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
    const { hooks, load, status, peek, offered } = this.deps;
    return andThen(limitReached(hooks.backPressure ?? {}, load), (limit) => {
      this.heldBack(limit);
      if (limit !== null) return null;
      const budget = maxCost === undefined ? {} : { maxCost };
      const said = hooks.beforeClaim?.({ max, ...budget, status: status(), peek });
      return andThen(said, (answer) => {
        if (answer === false) return null;
        return typeof answer === "object" ? checkConditions(answer, offered) : OPEN;
      });
    });
  }

  /** A hook that throws must not bring down the worker: the claim is left out. */
  private guarded(
    decide: () => ClaimConditions | null | Promise<ClaimConditions | null>,
  ): ClaimConditions | null | Promise<ClaimConditions | null> {
    const failed = (error: unknown): null => {
      const hook = this.heldBackBy === null ? "beforeClaim" : "backPressure";
      this.deps.emit({ kind: "hookFailed", hook, error: messageOf(error) });
      return null;
    };
    try {
      const decided = decide();
      return decided instanceof Promise ? decided.catch(failed) : decided;
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
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
  if (ids !== undefined) checkLength("The ids of a claim", ids, 0, LEASES_MAX);
  checkAmong("queues", queues, offered.queues);
  checkAmong("labels", labels, offered.labels);
  if (groups !== undefined) checkLength("The groups of a claim", groups, 1, 64);
  if (offered.groups.length > 0) checkAmong("groups", groups, offered.groups);
  return conditions;
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

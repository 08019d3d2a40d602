/** A bug that is planted in the bundled code, never in the product's files: the simulator must find it. */
import type { Bug } from "../../planted/change.js";
import type { Plan, QueueName } from "../plan.js";

/** Each is found within so many seeds, from 1 on. */
export const WITHIN = 4_000;

export interface Mutant extends Bug {
  /** The checkers that may find it: "simulation" is the demand of `liveness.ts`. */
  finds: readonly string[];
  /** The parts without which it does no harm: the same seed without them is sound. */
  needs?: readonly string[];
  /** It can show in large worlds alone: other bugs are sought in small ones. */
  large?: boolean;
  /** It can show only where one of these is used: other seeds are counted, and not played. */
  queues?: readonly QueueName[];
  /**
   * No seed has been found for it: this test refutes it. It is not played with the other bugs; `npm run simulate -- --mutants
   * --only="…" --write` searches for a seed.
   */
  shownBy?: string;
  /** It can show only in such plans: other seeds are counted, and not played. */
  where?: (plan: Plan) => boolean;
}

/** Whether the bug can show in such a plan at all: in a large one it might, and takes long. */
export function mayShow({ needs = [], large = false, queues, where }: Mutant, plan: Plan): boolean {
  const isUsed = queues === undefined || queues.some((name) => plan.queues[name] !== undefined);
  if (
    (plan.jobs !== undefined) !== large ||
    !isUsed ||
    !needs.every((part) => plan.parts.includes(part))
  )
    return false;
  return where === undefined || where(plan);
}

/** Plans with an event of this kind, in these of its fields. */
export function having(what: string, fields: object = {}): (plan: Plan) => boolean {
  return ({ events }) =>
    events.some((event) =>
      Object.entries({ do: what, ...fields }).every(([field, value]) => event[field] === value),
    );
}

/**
 * The cost of one call, over all attempts of its transaction, and the commits that it lost to. It does not know the
 * counters that add it up.
 */
import { NOTHING } from "../engine/usage.js";
import type { ConflictInfo, Cost, Io, Transaction } from "../engine/types.js";

/** Work that ended: a call's, or the scheduler's own. */
export interface Spent {
  /** Of the attempt that stood. */
  cost: Cost;
  /** Of attempts that lost to another commit, together. */
  lost: Cost;
  /** Attempts after the first, for any reason. */
  retries: number;
  /** The commits that attempts lost to, in order; also the last one, where no attempt stood. */
  lostTo: readonly ConflictInfo[];
}

export class Account implements Spent {
  cost: Cost = noCost();
  lost: Cost = noCost();
  retries = 0;
  readonly lostTo: ConflictInfo[] = [];

  /** An attempt stands: its writes are committed, or it has failed by itself and has none. */
  stands(tx: Transaction, outcome: "committed" | "dropped"): void {
    this.cost = tx.cost(outcome);
  }

  /** An attempt lost to another commit. */
  loses(tx: Transaction, conflict: ConflictInfo): void {
    this.lost = sumOfCosts(this.lost, tx.cost("dropped"));
    this.lostTo.push(conflict);
  }
}

export function noCost(): Cost {
  return { user: { ...NOTHING }, system: { ...NOTHING }, tombstones: 0 };
}

export function sumOfCosts(a: Cost, b: Cost): Cost {
  return {
    user: sumOfIo(a.user, b.user),
    system: sumOfIo(a.system, b.system),
    tombstones: a.tombstones + b.tombstones,
  };
}

export function sumOfIo(a: Io, b: Io): Io {
  return {
    documentsRead: a.documentsRead + b.documentsRead,
    bytesRead: a.bytesRead + b.bytesRead,
    documentsWritten: a.documentsWritten + b.documentsWritten,
    bytesWritten: a.bytesWritten + b.bytesWritten,
  };
}

/** Jobs that come in, by an app's call or by an outcome that is continued. */
import type { Enqueued, JobOptions, NewJob } from "../../src/shared/index.js";
import { expect } from "./follow.js";
import type { Job } from "./jobs.js";
import type { Model } from "./model.js";

/** Why all of them are refused, if they are. `freed`: the job that gives its key back in the same transaction. */
export function refusalOf(
  model: Model,
  list: readonly JobOptions[],
  now: number,
  freed: Job | null = null,
): "queueDraining" | "duplicateKey" | null {
  if (model.isDraining) return "queueDraining";
  const mine = new Set<string>();
  for (const { key } of list) {
    if (key === undefined) continue;
    const owner = model.ownerOf(key.value, now);
    const isFreed = owner !== null && owner === freed && owner.keyUntil === undefined;
    const isTaken = mine.has(key.value) || (owner !== null && !isFreed);
    if (isTaken && key.onConflict === "refuse") return "duplicateKey";
    mine.add(key.value);
  }
  return null;
}

export function enterAll(
  model: Model,
  replies: readonly Enqueued[],
  jobs: readonly NewJob[],
  now: number,
): void {
  for (const [i, { payload, options = {} }] of jobs.entries()) {
    const { id, isNew } = replies[i]!;
    const owner = options.key === undefined ? null : model.ownerOf(options.key.value, now);
    const isOutdone =
      owner !== null &&
      options.key?.onConflict === "replace" &&
      !owner.isDeleted &&
      (owner.status === "pending" || owner.status === "scheduled");
    expect(isNew === (owner === null || isOutdone), "a key is one job's", { options, owner, id });
    if (!isNew) {
      expect(id === owner!.id, "the owner of the key is named", { id, owner });
      continue;
    }
    // The key is the new job's before the other ends.
    model.add(id, payload as number, options, now);
    if (isOutdone) model.cancel(owner);
  }
}

/** A claim under conditions, from the one that the worker would send without. Pure. */
import type { ClaimConditions } from "./hookTypes.js";
import type { ClaimRequest } from "./transport.js";

/**
 * Null where nothing would be left to ask for. `queueOf`: the queue of a named job. Under other labels or groups a scan
 * neither starts from the worker's cursor nor moves it: the jobs behind it were passed under these.
 */
export function narrow(
  meant: ClaimRequest,
  { maxCost, queues, ids, labels, groups }: ClaimConditions,
  of: { all: readonly string[]; queueOf: (id: string) => string | undefined },
): ClaimRequest | null {
  const { cursor, named = [], lookIn, ...rest } = meant;
  const cost = Math.min(maxCost ?? Infinity, meant.maxCost ?? Infinity);
  const narrowed: ClaimRequest = {
    ...rest,
    ...(cost === Infinity ? {} : { maxCost: cost }),
    ...(labels === undefined ? {} : { labels: [...labels].sort() }),
    ...(groups === undefined ? {} : { groups: [...groups].sort() }),
  };
  if (ids !== undefined) {
    return ids.length === 0 ? null : { ...narrowed, named: [...new Set(ids)], lookIn: [] };
  }
  const isWanted = (queue: string | undefined) =>
    queues === undefined || (queue !== undefined && queues.includes(queue));
  const known = named.filter((id) => isWanted(of.queueOf(id))).slice(0, meant.max);
  const looked = queues === undefined ? lookIn : (lookIn ?? of.all).filter(isWanted);
  if (looked?.length === 0 && known.length === 0) return null;
  return {
    ...narrowed,
    ...(cursor === undefined || hasOtherOffer(narrowed) ? {} : { cursor }),
    ...(known.length > 0 ? { named: known } : {}),
    ...(looked === undefined ? {} : { lookIn: looked }),
  };
}

/** Whether a claim offers less than the worker does, so that its cursor says nothing of other claims. */
export function hasOtherOffer({ labels, groups }: ClaimRequest): boolean {
  return labels !== undefined || groups !== undefined;
}

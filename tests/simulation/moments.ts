/** Shared by workloads and faults: the moments that they wait for, and a backend that may be down. */
import type { Core } from "../../local/backend.js";
import { COMPONENT } from "./deployment.js";
import type { Change } from "./observed.js";
import type { Simulation } from "./simulation.js";

const SOON_MS = 1;

/**
 * Calls back at the k-th matching commit of the component from now on, before any other observer. Not after the phase with
 * faults.
 */
export function atCommit(
  simulation: Simulation,
  k: number,
  then: () => void,
  isMeant: (change: Change) => boolean = () => true,
): void {
  let left = k;
  const watcher: Parameters<typeof simulation.watchers.add>[0] = ({ changes }) => {
    if (!changes.some((change) => change.namespace === COMPONENT && isMeant(change))) return;
    left -= 1;
    if (left > 0) return;
    simulation.watchers.delete(watcher);
    if (simulation.now() < simulation.plan.faultsMs) then();
  };
  simulation.watchers.add(watcher);
}

/**
 * Calls back at once, or a moment after the worker's row was written so often while it held jobs: it is in the middle of
 * them, and may not have heard yet. Not after the phase with faults.
 */
export function atLease(
  simulation: Simulation,
  worker: string,
  times: number,
  then: () => void,
): void {
  const act = () => {
    if (simulation.now() < simulation.plan.faultsMs) then();
  };
  if (times === 0) return act();
  const soon = () => void simulation.world.clock.timer(SOON_MS, act);
  const isIts = ({ table, after }: Change) =>
    table === "sessions" && after?.["name"] === worker && after?.["leases"].length > 0;
  atCommit(simulation, times, soon, isIts);
}

/** `null` while it is down. */
export function running(simulation: Simulation): Core | null {
  try {
    return simulation.world.backend;
  } catch {
    return null;
  }
}

/** State of one simulation, which a part keeps from event to event; or what is made once of another object. */
export function kept<State, Of extends object = Simulation>(
  make: (of: Of) => State,
): (of: Of) => State {
  const states = new WeakMap<Of, State>();
  return (of) => {
    const known = states.get(of);
    if (known !== undefined) return known;
    const made = make(of);
    states.set(of, made);
    return made;
  };
}

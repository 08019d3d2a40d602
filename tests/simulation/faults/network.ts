/** The links of workers and producers lose, repeat, delay, refuse, swallow and cut. */
import type { Faults, Link } from "../../../local/virtual/network/link.js";
import type { Draw } from "../draw.js";
import { atLease } from "../moments.js";
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";
import type { Simulation } from "../simulation.js";

export const PRODUCER = "producer";

export const network: Part = {
  name: "network",
  about: "requests and replies are lost, repeated, late; connections are refused, cut, or silent",
  chance: 0.3,
  plan(draw, plan) {
    const links = [...plan.workers.map(({ name }) => name), PRODUCER];
    return Array.from({ length: draw.pick([1, 2, 3]) }, (): Planned[] => {
      const link = draw.pick(links);
      const at = draw.between(0, plan.faultsMs);
      if (draw.chance(0.2)) return [{ at, do: "network.cut", link }];
      const over = at + draw.pick([200, 2_000, 10_000]);
      return [
        {
          at,
          do: "network.fault",
          link,
          faults: drawFaults(draw),
          holding: draw.pick([0, 1, 1, 2]),
        },
        ...(over < plan.faultsMs ? [{ at: over, do: "network.mend", link }] : []),
      ];
    }).flat();
  },
  perform: {
    fault(simulation, { link, faults, holding }) {
      atLease(simulation, link, link === PRODUCER ? 0 : holding, () => {
        const found = linkOf(simulation, link);
        if (found === null) return;
        Object.assign(found.faults, faults);
        for (const name of Object.keys(faults as object)) simulation.happened(name);
      });
    },
    mend: (simulation, { link }) => linkOf(simulation, link)?.mend(),
    cut(simulation, { link }) {
      linkOf(simulation, link)?.cut();
      simulation.happened("cut");
    },
  },
  heal(simulation) {
    for (const link of simulation.world.network.links) link.mend();
  },
  marks: ["down", "loseRequests", "loseReplies", "repeatRequests", "extraLatencyMs", "cut"],
};

/** A worker's is that of the program that runs under its name now. */
function linkOf(simulation: Simulation, name: string): Link | null {
  const program = simulation.programs.get(name);
  if (program !== undefined) return program.state === "ended" ? null : program.link;
  return name === PRODUCER ? simulation.world.network.link(PRODUCER) : null;
}

function drawFaults(draw: Draw): Partial<Faults> {
  const chances = [0.1, 0.4, 1];
  return draw.pick<() => Partial<Faults>>([
    () => ({ down: draw.pick(["refused", "silent"]) }),
    () => ({ loseRequests: draw.pick(chances) }),
    () => ({ loseReplies: draw.pick(chances) }),
    () => ({ repeatRequests: draw.pick(chances) }),
    () => ({ extraLatencyMs: draw.pick([20, 300, 3_000]) }),
    () => ({ loseReplies: 0.3, repeatRequests: 0.3, extraLatencyMs: 50 }),
  ])();
}

/** Pages that show a queue live: the states of jobs, their counts, the workers, and their output. */
import { makeFunctionReference } from "convex/server";
import type { ConvexClient } from "convex/browser";
import { kept } from "../moments.js";
import type { Part } from "../part.js";
import { usedQueues, type Planned } from "../plan.js";
import type { Simulation } from "../simulation.js";

const openPages = kept(() => new Map<number, ConvexClient>());
const SHOWN = 10;

export const pages: Part = {
  name: "pages",
  about: "pages subscribe to statuses, counts, workers and output for a while",
  chance: 0.2,
  plan(draw, plan) {
    return Array.from({ length: draw.pick([1, 1, 2]) }, (_, page): Planned[] => {
      const at = draw.between(0, plan.faultsMs * 0.8);
      const over = at + draw.pick([300, 2_000, 6_000]);
      const queue = draw.pick(usedQueues(plan));
      const shows = draw.some(["statuses", "counts", "workers", "output"], 0.6);
      return [
        { at, do: "pages.open", page, queue, shows, which: draw.next() },
        ...(over < plan.faultsMs ? [{ at: over, do: "pages.close", page }] : []),
      ];
    }).flat();
  },
  perform: {
    open(simulation, { page, queue, shows, which }) {
      const client = simulation.world.client(`page ${page}`);
      openPages(simulation).set(page, client);
      const ids = simulation.jobs.filter((job) => job.queue === queue).slice(-SHOWN);
      const id = ids[Math.floor(which * ids.length)]?.id;
      const args: Record<string, Record<string, unknown> | null> = {
        statuses: { queue, ids: ids.map((job) => job.id) },
        counts: { queue },
        workers: {},
        output: id === undefined ? null : { queue, id },
      };
      for (const what of shows as string[]) {
        if (args[what] !== null) subscribe(simulation, client, what, args[what]!);
      }
    },
    close: (simulation, { page }) => close(simulation, page as number),
  },
  heal(simulation) {
    for (const page of [...openPages(simulation).keys()]) close(simulation, page);
  },
  marks: ["statuses", "counts", "workers", "output"],
};

function subscribe(
  simulation: Simulation,
  client: ConvexClient,
  what: string,
  args: Record<string, unknown>,
): void {
  client.onUpdate(
    makeFunctionReference<"query">(`calls:${what}`),
    args,
    () => simulation.happened(what),
    (error) => simulation.broken(`a page that shows ${what} gets ${error.message}`),
  );
}

function close(simulation: Simulation, page: number): void {
  void openPages(simulation)
    .get(page)
    ?.close()
    .catch(() => null);
  openPages(simulation).delete(page);
}

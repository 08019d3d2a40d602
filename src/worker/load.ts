/** The memory and processor time in use, as Node, Bun and Deno tell them. */
import { cpus, freemem, loadavg, totalmem } from "node:os";
import type { Load } from "./pressure.js";

/** Between two measures of processor time: the counters of some systems are that coarse. */
const MEASURE_MS = 1_000;

interface Times {
  at: number;
  idle: number;
  all: number;
}

export function nodeLoad(): Load {
  let last: Times | undefined;
  // The load average of a minute, until there are two measures to compare.
  let share: number | undefined;
  const cpu = (): number => {
    share ??= loadavg()[0]! / Math.max(1, cpus().length);
    const now = times();
    if (last !== undefined && now.at - last.at < MEASURE_MS) return share;
    if (last !== undefined && now.all > last.all)
      share = 1 - (now.idle - last.idle) / (now.all - last.all);
    last = now;
    return share;
  };
  return { memory: memoryShare, cpu };
}

/** In a container with a limit, of that. Node 20's first versions tell only the part that this process has of it. */
function memoryShare(): number {
  const total = totalmem();
  const constrained = process.constrainedMemory?.() ?? 0;
  const isLimited = constrained > 0 && constrained < total;
  const limit = isLimited ? constrained : total;
  const available =
    process.availableMemory?.() ?? (isLimited ? limit - process.memoryUsage.rss() : freemem());
  return Math.min(1, Math.max(0, 1 - available / limit));
}

function times(): Times {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { at: performance.now(), idle, all };
}

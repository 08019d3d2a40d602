/** The cost of a plain job over its life, and of an hour with nothing to do: counts, in virtual time. */
import { costOfJob, idleHour } from "../tests/support/cost.js";

export async function costs({ smoke }: { smoke: boolean }): Promise<void> {
  const jobs = smoke ? 32 : 512;
  const table: Record<string, Record<string, number>> = {};
  for (const batch of [1, 16]) {
    const { writes, mutations, otherCalls, behind } = await costOfJob({ jobs, batch });
    const name = batch === 1 ? "unbatched" : `${batch} in a call`;
    table[name] = line(mutations + otherCalls, mutations, writes);
    for (const [what, { calls, writes: own }] of Object.entries(behind)) {
      table[`${name}, behind it ${what}`] = line(calls, calls, own);
    }
  }
  console.log("A plain job from enqueue to purge, in a busy queue");
  console.table(table);
  const workers = 4;
  console.log(`Calls in an idle hour, without workers:`, await idleHour(0));
  console.log(`… and ${workers} idle workers:`, await idleHour(workers));
}

function line(calls: number, mutations: number, writes: number): Record<string, number> {
  const rounded = (count: number) => Math.round(count * 1_000) / 1_000;
  return {
    "calls/job": rounded(calls),
    "mutations/job": rounded(mutations),
    "document writes/job": rounded(writes),
  };
}

/**
 * For mutants: a snapshot read where the component has a real one. The rows come by the process's own query with unchanged
 * arguments and answer: written out, as the name of a lane.
 */
import type { Change } from "../planted/change.js";

/** The rows of that name as a snapshot shows them; `about` is an expression for their subject. */
export function seenAs(name: string, about = '""'): string {
  const args = `{ process: "${name} " + ${about}, generation: 0, upTo: -1n }`;
  return `JSON.parse((await ctx.runQuery(internal.push.mainLoop.readProcesses, ${args}, { useStaleSnapshot: true })).lanes[0].lane)`;
}

/** Makes the query answer with the rows of that name; `about` is the name of their subject. */
export function showsAs(name: string, rows: string): Change {
  return {
    in: "mainLoop.ts:readProcesses",
    call: "lookOf",
    gives: `!args.process.startsWith("${name} ") ? $it : (async () => {
      const about = args.process.slice("${name} ".length);
      const lane = JSON.stringify(${rows});
      return { lanes: [{ lane, generation: 0, callSeq: 0, jobs: [] }], upTo: 0n, areWaiting: false };
    })()`,
  };
}

/** @see ../../../src/shared/status.ts */
import { EDGES } from "../../../src/shared/index.js";
import type { Checker } from "../part.js";
import { describeRow, wayBetween, wayOfNew } from "./edges.js";
import { changedJobs } from "./jobs.js";

/** A queue comes to them with all its places taken. The tests of `routes.ts` show them. */
const RARE: readonly string[] = ["postpone", "releaseLater", "resetLater"];

export const stateMachine: Checker = {
  name: "state machine",
  promise:
    "a job's status changes only along an edge of the state machine, with the edge's own counts, and every change makes it newer",
  marks: Object.keys(EDGES).filter((edge) => !RARE.includes(edge)),
  watch: ({ broken, happened, nameOf }) => ({
    commit(commit) {
      for (const { id, before, after } of changedJobs(commit)) {
        if (after === null) continue;
        if (before === null) {
          const way = wayOfNew(after);
          if (way === null) broken(`${nameOf(id)} came into being as ${describeRow(after)}`);
          for (const edge of way ?? []) happened(edge);
          continue;
        }
        if (before["seq"] === after["seq"]) {
          // No edge: a request to end it, or a mark as paused.
          if (before["status"] !== after["status"] || before["order"] !== after["order"]) {
            broken(`${nameOf(id)} has moved and is no newer`);
          }
          continue;
        }
        if (!((after["seq"] as bigint) > (before["seq"] as bigint))) {
          broken(`${nameOf(id)} has become older`);
        }
        const way = wayBetween(before, after);
        if (way === null) {
          broken(`${nameOf(id)} went ${describeRow(before)} → ${describeRow(after)}`);
        }
        for (const edge of way ?? []) happened(edge);
      }
    },
  }),
};

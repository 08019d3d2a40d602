/** The page's reads of jobs, of both queues. */
import { conveyor, tiles } from "./queue/farm.js";
import { summaries } from "./queue/summaries.js";

/** Anyone may watch: pictures of numbers need no protection. Changes go through `pictures`. */
export const { status } = conveyor.api({
  queues: [tiles, summaries],
  authorize: (_ctx, call) => call.kind === "status" || call.kind === "attempts",
});

/** What the page may ask about jobs, of both queues. */
import { conveyor, tiles } from "./queue/farm.js";
import { summaries } from "./queue/summaries.js";

/** Anyone may watch: there is nobody to protect pictures of numbers from. Changes go through `pictures`. */
export const { status } = conveyor.api({
  queues: [tiles, summaries],
  authorize: (_ctx, call) => call.kind === "status" || call.kind === "attempts",
});

import { sums } from "./queues.js";

export const { enqueue, enqueueBatch, status, cancel, retry, counts } = sums.api({
  authorize: "public",
});

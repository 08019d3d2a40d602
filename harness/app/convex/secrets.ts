import { secrets } from "./queues.js";

export const { enqueue, enqueueBatch, counts } = secrets.api({ authorize: "public" });

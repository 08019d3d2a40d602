import { secrets } from "./queues.js";

export const { enqueue, stats } = secrets.api({ authorize: "public", enqueue: true });

/** A program that works for the circular queue. */
import { api } from "./functions.js";
import { start } from "./loops.js";
import { env } from "./work.js";

start({
  hasWork: api.ring.hasWork,
  caller: { secret: env["WORKER_KEY"]!, worker: env["WORKER_NAME"]! },
  claim: api.ring.claim,
  beat: api.ring.renew,
  end: api.ring.putBack,
  of: ({ item }) => ({ item }),
  lookEveryMs: 30_000,
});

/** A program that works for the llama-farm pattern. */
import { api } from "./functions.js";
import { start } from "./loops.js";
import { env } from "./work.js";

start({
  hasWork: api.farm.hasWork,
  caller: { apiKey: env["WORKER_NAME"]! },
  claim: api.farm.claim,
  beat: api.farm.beat,
  end: api.farm.complete,
  of: ({ job }) => ({ job }),
});

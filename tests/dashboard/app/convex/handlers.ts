/** Handlers that Convex runs. */
import { v } from "convex/values";
import { internalAction } from "./_generated/server.js";
import { answers } from "./queues.js";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const send = internalAction({
  args: { to: v.string(), subject: v.string(), fails: v.boolean() },
  returns: v.null(),
  handler: async (_ctx, { to, fails }) => {
    await pause(60);
    if (fails) throw new Error(`${to} has no mailbox here.`);
    return null;
  },
});

export const call = internalAction({
  args: { url: v.string() },
  returns: v.null(),
  handler: async (_ctx, { url }) => {
    await pause(30);
    throw new Error(`${url} answered 503 Service Unavailable.`);
  },
});

const WORDS =
  "a queue on the dashboard shows at a glance whether it is well and how much waits".split(" ");

export const answer = answers.action(async (_ctx, job) => {
  const { question, words, everyMs } = job.payload;
  job.log(`Asked: ${question}`);
  for (let n = 0; n < words; n++) {
    job.write(`${WORDS[n % WORDS.length]!} `);
    job.progress({ percent: Math.round((100 * (n + 1)) / words) });
    await pause(everyMs);
  }
  job.log("Answered.", { data: { words } });
  return { words };
});

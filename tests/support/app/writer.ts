/**
 * A worker for tests of handlers' reports: it does the jobs of `races` a few words at a time, and leaves as its output
 * the words that `wordsOf` names, and a log entry for every third.
 */
import { Worker } from "convex-conveyor/worker";
import { api } from "./convex/_generated/api.js";

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

const WORDS = 24;
const WORD_MS = 90;

const worker = new Worker({
  url: process.env["CONVEX_URL"]!,
  token: process.env["CONVEYOR_TOKEN"]!,
  api: api.work,
  name: process.env["WORKER_NAME"]!,
  concurrency: Number(process.env["WORKER_CONCURRENCY"] ?? 1),
  handleSignals: false,
  onEvent: (event) => say({ event }),
  handlers: {
    races: async ({ payload, write, log, progress }) => {
      for (let word = 0; word < WORDS; word++) {
        await new Promise((resolve) => setTimeout(resolve, WORD_MS));
        write(`${payload.n}.${word}${word % 7 === 6 ? ", " : " "}`);
        progress({ word });
        if (word % 3 === 0) log(`word ${word}`);
      }
      return { square: payload.n * payload.n };
    },
  },
});

await worker.run();

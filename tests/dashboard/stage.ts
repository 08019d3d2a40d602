/**
 * A local backend with the app of `app/`, a worker outside Convex, and load that does not end: the stage for the dashboard, in
 * tests and for its pictures.
 */
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { deploy, runAsAdmin } from "../support/deploy.js";
import { startBackend, type Backend } from "../../local/backend.js";
import { Worker } from "../../src/worker/index.js";
import { api } from "./app/convex/_generated/api.js";

const APP = path.join(import.meta.dirname, "app");
const QUESTIONS = ["What is a queue?", "How many wait?", "How long?", "And then?"];

export interface Stage {
  backend: Backend;
  client: ConvexHttpClient;
  /** Keeps every queue busy, so many mails a second among them, until it is called off. */
  load(mailsASecond: number): () => Promise<void>;
  close(): Promise<void>;
}

export async function startStage(): Promise<Stage> {
  const backend = await startBackend({ port: 0, quiet: true });
  try {
    await deploy(APP, backend);
    const client = new ConvexHttpClient(backend.url, { logger: false });
    const worker = await startWorker(backend);
    return {
      backend,
      client,
      load: (mailsASecond) => keepBusy(client, mailsASecond),
      close: async () => {
        await worker.stop();
        await backend.close();
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

async function startWorker(backend: Backend) {
  const made = await runAsAdmin(backend, "workers:create", { name: "stage" });
  const { token } = made as { token: string };
  const worker = new Worker({
    ...{ url: backend.url, token, api: api.workers, name: "anvil", concurrency: 3 },
    handleSignals: false,
    handlers: {
      renders: async ({ payload, signal, progress }) => {
        progress({ percent: 50 });
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, payload.ms);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve(undefined);
          });
        });
        return { bytes: payload.frame * 1_024 };
      },
    },
  });
  const ended = worker.run();
  return {
    stop: async () => {
      await worker.stop();
      await ended;
    },
  };
}

function keepBusy(client: ConvexHttpClient, mailsASecond: number): () => Promise<void> {
  let round = 0;
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    const n = round++;
    running = Promise.all([
      running,
      client.mutation(api.stage.sendMails, { from: n * mailsASecond, count: mailsASecond }),
      client.mutation(api.stage.ask, {
        ...{ question: `${QUESTIONS[n % QUESTIONS.length]!} (${n})`, words: 5, everyMs: 400 },
      }),
      client.mutation(api.stage.render, { count: 2, ms: 1_000 }),
      ...(n % 5 === 0 ? [client.mutation(api.stage.callWebhooks, { count: 1 })] : []),
    ]);
  }, 1_000);
  return async () => {
    clearInterval(timer);
    await running;
  };
}

// Names: Queue Worker connection add data
import { Queue, Worker } from "bullmq";
import { deliver } from "./mailer";

export const connection = { host: "localhost", port: 6379 };
export const emails = new Queue<{ to: string }>("emails", { connection });
export const worker = new Worker<{ to: string }>(
  "emails",
  async (job) => {
    await deliver(job.data.to);
  },
  { connection },
);

export const signUp = (to: string) => emails.add("send", { to });

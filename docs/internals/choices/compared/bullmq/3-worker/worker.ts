// Names: Worker data updateProgress signal connection cancelJob on
// Reservation: cancelJob works in the worker's own process only, so that another has to reach it: here over Redis.
import { Worker } from "bullmq";
import Redis from "ioredis";
import { connection } from "./emails";
import { frames } from "./mailer";

const worker = new Worker<{ scene: string }>(
  "renders",
  async (job, _token, signal) => {
    for await (const percent of frames(job.data.scene, signal)) await job.updateProgress(percent);
  },
  { connection },
);
const stops = new Redis(connection);
await stops.subscribe("stops");
stops.on("message", (_channel, id) => void worker.cancelJob(id));

// Names: queue payload progress workerApi queues claim complete heartbeat report watch cancel Worker url token api handlers signal run
import { Worker } from "convex-conveyor/worker";
import { api } from "./_generated/api";
import { frames } from "./mailer";

const worker = new Worker({
  url: process.env.CONVEX_URL!,
  token: process.env.CONVEYOR_TOKEN!,
  api: api.renders,
  handlers: {
    renders: async ({ payload, progress, signal }) => {
      for await (const percent of frames(payload.scene, signal)) progress({ percent });
    },
  },
});
await worker.run();

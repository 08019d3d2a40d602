import { QueueEvents } from "bullmq";
import express from "express";
import { connection } from "./emails";

const events = new QueueEvents("renders", { connection });
events.setMaxListeners(0);
export const app = express();
app.get("/jobs/:id", (request, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const show = ({ jobId, data }: { jobId: string; data?: unknown }) => {
    if (jobId === request.params.id) response.write(`data: ${JSON.stringify(data ?? "ended")}\n\n`);
  };
  for (const kind of ["progress", "completed", "failed"] as const) events.on(kind, show);
  request.on("close", () => {
    for (const kind of ["progress", "completed", "failed"] as const) events.off(kind, show);
  });
});

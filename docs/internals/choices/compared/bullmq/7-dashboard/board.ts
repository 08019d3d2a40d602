// Names: createBullBoard queues serverAdapter BullMQAdapter ExpressAdapter setBasePath getRouter
// Reservation: a package of others (Bull Board).
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { ExpressAdapter } from "@bull-board/express";
import { emails } from "./emails";
import { app } from "./events";

const serverAdapter = new ExpressAdapter();
serverAdapter.setBasePath("/admin");
createBullBoard({ queues: [new BullMQAdapter(emails)], serverAdapter });
app.use("/admin", serverAdapter.getRouter());

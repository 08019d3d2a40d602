// Names: createFunction id triggers event data onFailure error
import { inngest } from "./client";
import { deliver } from "./mailer";

export const sendReceipt = inngest.createFunction(
  {
    id: "send-receipt",
    triggers: { event: "receipts/send" },
    onFailure: async ({ event, error }) => {
      console.error(event.data.event.data.to, error);
    },
  },
  async ({ event }) => {
    await deliver(event.data.to);
  },
);

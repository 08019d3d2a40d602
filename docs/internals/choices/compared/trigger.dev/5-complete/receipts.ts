// Names: task id run onFailure error
import { task } from "@trigger.dev/sdk";
import { deliver } from "./mailer";

export const sendReceipt = task({
  id: "send-receipt",
  run: async ({ to }: { to: string }) => {
    await deliver(to);
  },
  onFailure: async ({ payload, error }) => {
    console.error(payload.to, error);
  },
});

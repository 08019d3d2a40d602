// Names: queue payload action onComplete completed outcome status
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { conveyor } from "./conveyor";
import { deliver } from "./mailer";

export const receipts = conveyor.queue("receipts", {
  payload: { to: v.string() },
  action: () => internal.receipts.send,
  onComplete: () => internal.receipts.sent,
});
export const send = receipts.action(async (_ctx, { payload }) => {
  await deliver(payload.to);
});
export const sent = receipts.completed(async (_ctx, { payload, outcome }) => {
  if (outcome.status === "failed") console.error(payload.to, outcome.error);
});

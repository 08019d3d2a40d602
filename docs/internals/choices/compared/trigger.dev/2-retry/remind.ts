// Names: task id retry maxAttempts run trigger delay idempotencyKey idempotencyKeys create scope
import { idempotencyKeys, task } from "@trigger.dev/sdk";
import { deliver } from "./mailer";

export const sendReminder = task({
  id: "send-reminder",
  retry: { maxAttempts: 4 },
  run: async ({ to }: { to: string }) => {
    await deliver(to);
  },
});

export async function remind(to: string) {
  const idempotencyKey = await idempotencyKeys.create(to, { scope: "global" });
  await sendReminder.trigger({ to }, { delay: "1m", idempotencyKey });
}

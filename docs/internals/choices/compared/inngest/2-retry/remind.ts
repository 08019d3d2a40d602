// Names: createFunction id retries triggers event data send name ts
// Reservation: the event's id keeps a second one out for 24 hours.
import { inngest } from "./client";
import { deliver } from "./mailer";

export const sendReminder = inngest.createFunction(
  { id: "send-reminder", retries: 3, triggers: { event: "emails/remind" } },
  async ({ event }) => {
    await deliver(event.data.to);
  },
);

export const remind = (to: string) =>
  inngest.send({
    id: `remind-${to}`,
    name: "emails/remind",
    data: { to },
    ts: Date.now() + 60_000,
  });

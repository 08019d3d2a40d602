// Names: Inngest id createFunction triggers event data send name serve client functions
import { inngest } from "./client";
import { deliver } from "./mailer";

export const send = inngest.createFunction(
  { id: "send", triggers: { event: "emails/send" } },
  async ({ event }) => {
    await deliver(event.data.to);
  },
);

export const signUp = (to: string) => inngest.send({ name: "emails/send", data: { to } });

// Names: defineConfig project dirs maxDuration task id run trigger
import { task } from "@trigger.dev/sdk";
import { deliver } from "./mailer";

export const send = task({
  id: "send",
  run: async ({ to }: { to: string }) => {
    await deliver(to);
  },
});

export const signUp = (to: string) => send.trigger({ to });

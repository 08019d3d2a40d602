// Names: task id run signal metadata set runs cancel
// Reservation: tasks run where Trigger.dev is hosted, by them or by the app; what stands here is deployed there.
import { metadata, runs, task } from "@trigger.dev/sdk";
import { frames } from "./mailer";

export const render = task({
  id: "render",
  run: async ({ scene }: { scene: string }, { signal }) => {
    for await (const percent of frames(scene, signal)) metadata.set("percent", percent);
  },
});

export const stop = (id: string) => runs.cancel(id);

// Names: createFunction id triggers cancelOn event match data step run realtime publish channel topics schema connect apps client functions send name
// Reservation: a run is canceled between two steps; a step that runs is not told.
import { realtime, staticSchema } from "inngest";
import { connect } from "inngest/connect";
import { inngest } from "./client";
import { frame } from "./mailer";

export const renders = realtime.channel({
  name: ({ scene }: { scene: string }) => `render:${scene}`,
  topics: { progress: { schema: staticSchema<{ percent: number }>() } },
});
const render = inngest.createFunction(
  {
    id: "render",
    triggers: { event: "scenes/render" },
    cancelOn: [{ event: "scenes/stop", match: "data.scene" }],
  },
  async ({ event, step }) => {
    const { scene } = event.data;
    for (let n = 0; n < 100; n++) {
      await step.run(`frame-${n}`, () => frame(scene, n));
      const shown = { percent: n + 1 };
      await step.realtime.publish(`shown-${n}`, renders({ scene }).progress, shown);
    }
  },
);
await connect({ apps: [{ client: inngest, functions: [render] }] });

export const stop = (scene: string) => inngest.send({ name: "scenes/stop", data: { scene } });

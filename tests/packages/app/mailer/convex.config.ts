/** A component of the user's own, with two pools of its own inside. */
import conveyor from "convex-conveyor/convex.config.js";
import { defineComponent } from "convex/server";

const mailer = defineComponent("mailer");
mailer.use(conveyor, { name: "letters" });
mailer.use(conveyor, { name: "parcels" });

export default mailer;

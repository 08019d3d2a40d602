import { defineComponent } from "convex/server";
import { v } from "convex/values";
import grandchild from "./grandchild/convex.config.js";

const child = defineComponent("child", { env: { COLOR: v.optional(v.string()) } });
child.use(grandchild);

export default child;

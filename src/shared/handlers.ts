/** The handler of jobs inside Convex, as it crosses to the component. Pure. */
import { v, type Infer } from "convex/values";

/** A function inside Convex that works on jobs. */
export const vHandler = v.object({
  kind: v.union(
    v.literal("action"),
    v.literal("mutation"),
    v.literal("query"),
    /** An action of the app in which the lane itself runs. */
    v.literal("inline"),
  ),
  /** Of the app's function, or another component's. */
  handle: v.string(),
  /** Its arguments: the payload, or `{ payload, job }`. */
  takes: v.union(v.literal("payload"), v.literal("job")),
});
export type Handler = Infer<typeof vHandler>;

/**
 * Under this field a handler that its queue made returns its result, beside jobs that follow it: a lane takes it apart. No
 * other handler returns an object with this field.
 */
export const LANE_RESULT = "__conveyorResult";

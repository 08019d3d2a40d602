/** How much of a queue's life is written to the log, and of which weight what a handler logs is. */
import { v, type Infer } from "convex/values";

export const vLogLevel = v.union(
  v.literal("debug"),
  v.literal("info"),
  v.literal("warn"),
  v.literal("error"),
);
export type LogLevel = Infer<typeof vLogLevel>;
export const LOG_LEVELS: readonly LogLevel[] = vLogLevel.members.map(({ value }) => value);

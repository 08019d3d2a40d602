/** The log level of a queue's life cycle, and the levels of a handler's entries. */
import { v, type Infer } from "convex/values";

export const vLogLevel = v.union(
  v.literal("debug"),
  v.literal("info"),
  v.literal("warn"),
  v.literal("error"),
);
export type LogLevel = Infer<typeof vLogLevel>;
export const LOG_LEVELS: readonly LogLevel[] = vLogLevel.members.map(({ value }) => value);

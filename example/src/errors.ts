/** The text of an error for a person. */
import { ConvexError } from "convex/values";

/** The message an app's error carries; otherwise the first line, without the stack that the client puts below it. */
export function messageOf(error: unknown): string {
  if (error instanceof ConvexError) {
    const data: unknown = error.data;
    if (typeof data === "object" && data !== null && "message" in data) return String(data.message);
    return String(data);
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0] ?? text;
}

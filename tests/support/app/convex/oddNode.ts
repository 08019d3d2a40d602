"use node";
/** An inline handler in Node. */
import { createHash } from "node:crypto";
import { hashes } from "./odd.js";

export const work = hashes.inline((_ctx, { payload, log }) => {
  log("hashing");
  if (payload === "") throw new Error("There is nothing to hash.");
  return createHash("sha256").update(payload).digest("hex");
});

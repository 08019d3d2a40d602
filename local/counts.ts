const isDeep = process.env["DEPTH"] === "deep";

/** How much a long test plays: `few` in `npm run test:long`, which CI runs, and `many` in `npm run test:deep`. */
export function counts<T>(few: T, many: T): T {
  return isDeep ? many : few;
}

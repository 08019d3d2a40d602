/** The fields by which a job is listed beside its status. Pure. */
import type { ListBy } from "./protocol.js";

export interface Mark {
  by: ListBy;
  value: string;
}

/** The marks of a job in a queue that lists by these: one for each of its tags, and one for its group. */
export function marksOf(
  listBy: readonly ListBy[],
  { tags = [], group }: { tags?: readonly string[] | undefined; group?: string | undefined },
): Mark[] {
  const byTag = listBy.includes("tag") ? [...new Set(tags)] : [];
  return [
    ...byTag.map((value) => ({ by: "tag" as const, value })),
    ...(listBy.includes("group") && group !== undefined
      ? [{ by: "group" as const, value: group }]
      : []),
  ];
}

/**
 * Cursors into the rows of one job: an attempt, and a number within it. A cursor names the place behind which to go on,
 * and means that place for ever: rows are only added behind the last. Pure.
 */
import { conveyorError } from "../../shared/index.js";

/** An attempt, and the number of the last row that was read of it. */
export type Place = readonly [attempt: number, number: number];

/** Before everything: attempts are counted from 1. */
const START: Place = [0, -1];

export function encodePlace([attempt, number]: Place): string {
  return `${attempt}:${number}`;
}

export function decodePlace(cursor: string | undefined): Place {
  if (cursor === undefined) return START;
  const parts = /^(\d{1,16}):(-1|\d{1,16})$/.exec(cursor);
  if (parts === null) {
    throw conveyorError(
      "invalidArgument",
      `This is no cursor: ${JSON.stringify(cursor.slice(0, 100))}. Pass the \`cursor\` of the page before, or none to begin.`,
      { argument: "cursor", got: cursor.slice(0, 100) },
    );
  }
  return [Number(parts[1]), Number(parts[2])];
}

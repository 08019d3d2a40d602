/**
 * What a handler threw, as its job's error: what it says, and not how the platform says it. Across a function call of the
 * platform an error reads `Uncaught Error: …`, with the stack below it; in a worker's or lane's own process it is the
 * message alone. A job's error should be the same wherever its handler ran. Pure.
 */
import { errorText, isConveyorError } from "./errors.js";

const UNCAUGHT = "Uncaught ";
const FRAME = /^\s+at \S/;
/** The class of what was thrown, before its message. */
const NAME = /^[A-Za-z_$][\w$.]*(?:: |:?$)/;
/** A text that was thrown may begin like that too. An error has a stack, or at least such a name. */
const NAME_OF_ERROR = /^[\w$.]*(?:Error|Exception)(?:: |:?$)/;

/** The message, in one function or across several. */
export function thrownText(error: unknown): string {
  if (isConveyorError(error)) return error.data.message;
  const text = errorText(error);
  if (!text.startsWith(UNCAUGHT)) return text;
  const lines = text.split("\n");
  const isFrame = (line: string) => line.trim() === "" || FRAME.test(line);
  let last = lines.length;
  while (last > 1 && isFrame(lines[last - 1]!)) last -= 1;
  const name = lines.slice(last).some((line) => FRAME.test(line)) ? NAME : NAME_OF_ERROR;
  let said = lines.slice(0, last).join("\n");
  while (said.startsWith(UNCAUGHT)) said = said.slice(UNCAUGHT.length).replace(name, "");
  return said;
}

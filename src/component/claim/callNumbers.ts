/** The call counter of a session, by which a repeated call is known. */
import { checkInteger, conveyorError } from "../../shared/index.js";
import type { Session } from "../rows/sessions.js";

/** A call's place in the session's call counter. */
export function judgeCall(session: Session, n: number): "new" | "repeated" {
  checkInteger("The call counter n", n, 1, Number.MAX_SAFE_INTEGER);
  if (n > session.n) return "new";
  if (n === session.n) return "repeated";
  throw conveyorError(
    "staleCall",
    `This session has already made call ${session.n}; call ${n} comes too late and changed nothing. ` +
      "A session counts its calls up from 1, repeats one until it is answered, and makes one at a time.",
    { got: n, last: session.n },
  );
}

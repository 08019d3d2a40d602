/** The call counter of a session, by which a repeated call is known. */
import { checkInteger, conveyorError } from "../../shared/index.js";
import type { Session } from "../rows/sessions.js";

/** A call's place in the session's call counter. */
export function judgeCall(session: Session, callSeq: number): "new" | "repeated" {
  checkInteger("The call counter callSeq", callSeq, 1, Number.MAX_SAFE_INTEGER);
  if (callSeq > session.callSeq) return "new";
  if (callSeq === session.callSeq) return "repeated";
  throw conveyorError(
    "staleCall",
    `This session has already made call ${session.callSeq}; call ${callSeq} comes too late and changed nothing. ` +
      "A session counts its calls up from 1, repeats one until it is answered, and makes one at a time.",
    { got: callSeq, last: session.callSeq },
  );
}

/** A job's state: a drawing and its word. */
import type { Status } from "../../shared/index.js";
import { STATUS_WORDS } from "../words.js";
import { Icon } from "./Icon.js";

export function StatusMark({ status, note }: { status: Status; note?: string }) {
  return (
    <span className={`cv-status cv-is-${status}`}>
      <Icon name={status} />
      {STATUS_WORDS[status]}
      {note !== undefined && <span className="cv-soft"> {note}</span>}
    </span>
  );
}

/** A job's status: a drawing and its word. */
import type { Status } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Icon } from "./Icon.js";

export function StatusMark({ status, note }: { status: Status; note?: string }) {
  const { statuses } = useLabels();
  return (
    <span className={`cv-status cv-is-${status}`}>
      <Icon name={status} />
      {statuses[status]}
      {note !== undefined && <span className="cv-soft"> {note}</span>}
    </span>
  );
}

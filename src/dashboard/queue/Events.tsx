/** The events of a queue, the newest first. */
import { useLabels, useRead } from "../frame/context.js";
import { Notice } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { Moment } from "../parts/Times.js";
import { ValueText } from "../parts/ValueText.js";

const EVENTS_SHOWN = 100;

export function Events({ queue }: { queue: string }) {
  const events = useRead({ kind: "events", queue, limit: EVENTS_SHOWN });
  const { queue: words, page } = useLabels();
  if (events === undefined) return <Skeleton lines={4} />;
  if (events.length === 0) {
    return (
      <Notice title={words.eventsEmpty}>
        <p>{words.eventsEmptyText}</p>
      </Notice>
    );
  }
  return (
    <ol className="cv-events">
      {events.map(({ kind, at, message, details }, place) => (
        <li key={`${at}.${place}`}>
          <span className="cv-soft">
            <Moment at={at} />
          </span>
          <code className="cv-code">{kind}</code>
          <span>{message}</span>
          {details !== undefined && (
            <details className="cv-details">
              <summary>{page.details}</summary>
              <ValueText value={details} />
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}

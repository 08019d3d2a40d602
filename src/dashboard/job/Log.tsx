/** The log of a job's handler, live. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { useLogPages } from "../../react/useJobLogs.js";
import type { LogEntry } from "../../shared/index.js";
import { inCall, useApi, useLabels } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { Moment } from "../parts/Times.js";
import { ValueText } from "../parts/ValueText.js";

export function Log({ queue, id }: { queue: string; id: string }) {
  const log = useLogPages(useApi().read, { call: { kind: "logs", queue, id } }, inCall);
  const { noLog } = useLabels().job;
  if (log === undefined) return <Skeleton lines={3} />;
  if (log === null || log.entries.length === 0) return <p className="cv-soft">{noLog}</p>;
  return <Entries entries={log.entries} isLoading={log.isLoading} />;
}

const LINE_PX = 30;

/** Only the lines in sight are drawn: a log may have thousands. */
function Entries({ entries, isLoading }: { entries: readonly LogEntry[]; isLoading: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const labels = useLabels().job;
  // No value that it returns is kept from one rendering to the next.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 10,
  });
  const top = useRef(0);
  // Lines that are measured are higher than estimated: then the end is further down.
  const height = virtualizer.getTotalSize();
  useEffect(() => {
    if (follows.current) virtualizer.scrollToIndex(entries.length - 1, { align: "end" });
  }, [entries.length, height, virtualizer]);
  return (
    <div
      ref={scroller}
      className="cv-scroll cv-log"
      tabIndex={0}
      role="log"
      aria-label={labels.log}
      aria-live="off"
      aria-busy={isLoading}
      // By the box itself: the virtualizer hears of a scroll after this. The page scrolls down alone, the reader up.
      onScroll={({ currentTarget: box }) => {
        const left = box.scrollHeight - box.scrollTop - box.clientHeight;
        if (left < 2 * LINE_PX) follows.current = true;
        else if (box.scrollTop < top.current) follows.current = false;
        top.current = box.scrollTop;
      }}
    >
      <div style={{ height, position: "relative" }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            ref={virtualizer.measureElement}
            data-index={index}
            className="cv-log-place"
            style={{ transform: `translateY(${start}px)` }}
          >
            <Entry entry={entries[index]!} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Entry({ entry: { attempt, level, message, data, at } }: { entry: LogEntry }) {
  const { logAttempt, logData } = useLabels().job;
  return (
    <div className={`cv-log-entry cv-log-${level}`}>
      <span className="cv-soft">
        <Moment at={at} />
      </span>
      <span className="cv-log-level">{level}</span>
      <span className="cv-soft" title={logAttempt(attempt)}>
        {attempt}.
      </span>
      <span className="cv-log-message">
        {message}
        {data !== undefined && (
          <details className="cv-details">
            <summary>{logData}</summary>
            <ValueText value={data} />
          </details>
        )}
      </span>
    </div>
  );
}

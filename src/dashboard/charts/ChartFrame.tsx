/** The frame of every chart: a title, a legend of colours and strokes, and a summary in words. */
import { useId, type ReactNode } from "react";

export interface Key {
  /** The field of the data. */
  readonly id: string;
  readonly name: string;
  /** A tone of the styles. */
  readonly tone: string;
  /** An area, or a line with these dashes: colour alone is not enough for every reader. */
  readonly drawn: "area" | "line" | "dashes" | "dots";
}

/** Dashes of lines, as SVG has them. */
export const DASHES: Readonly<Record<Key["drawn"], string>> = {
  area: "",
  line: "",
  dashes: "6 4",
  dots: "1.5 4",
};

export function ChartFrame({
  title,
  gist,
  keys,
  children,
}: {
  title: string;
  /** The data in a sentence. */
  gist: string;
  keys: readonly Key[];
  children: ReactNode;
}) {
  const gistId = useId();
  return (
    <figure className="cv-chart" aria-label={title} aria-describedby={gistId}>
      <figcaption>
        <span className="cv-chart-title">{title}</span>
        <span className="cv-keys">
          {keys.map(({ name, tone, drawn }, n) => (
            <span key={n} className={`cv-key cv-tone-${tone}`}>
              <KeyMark drawn={drawn} />
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div className="cv-plot">{children}</div>
      <p id={gistId} className="cv-gist">
        {gist}
      </p>
    </figure>
  );
}

function KeyMark({ drawn }: { drawn: Key["drawn"] }) {
  return (
    <svg className="cv-key-mark" viewBox="0 0 18 10" width="18" height="10" aria-hidden="true">
      {drawn === "area" ? (
        <rect x="3" width="12" height="10" rx="1.5" fill="currentColor" />
      ) : (
        <path
          d="M0 5h18"
          stroke="currentColor"
          strokeWidth="2.5"
          strokeLinecap={drawn === "dots" ? "round" : "butt"}
          strokeDasharray={DASHES[drawn]}
        />
      )}
    </svg>
  );
}

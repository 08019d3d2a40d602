/** Small drawings beside words, never without them. */
import type { ReactNode } from "react";

const ring = <circle cx="8" cy="8" r="6.25" />;

/** On a field of 16 by 16, in strokes of the text's colour. */
const DRAWN = {
  scheduled: (
    <>
      {ring}
      <path d="M8 4.5V8l2.5 1.5" />
    </>
  ),
  pending: <circle cx="8" cy="8" r="6.25" strokeDasharray="2.6 2.3" />,
  running: (
    <>
      {ring}
      <path d="M6.5 5.2v5.6L11 8z" fill="currentColor" />
    </>
  ),
  succeeded: <path d="M2.5 8.5l3.5 3.5 7.5-8" />,
  failed: <path d="M3.5 3.5l9 9M12.5 3.5l-9 9" />,
  canceled: (
    <>
      {ring}
      <path d="M3.6 12.4l8.8-8.8" />
    </>
  ),
  timedOut: <path d="M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12" />,
  green: <path d="M2.5 8.5l3.5 3.5 7.5-8" />,
  yellow: <path d="M8 2L1.5 13.5h13zM8 6.5v3M8 11.4v.2" />,
  red: <path d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5zM8 4.5v4M8 11v.2" />,
  pause: <path d="M5.5 3v10M10.5 3v10" strokeWidth="2.4" />,
  resume: <path d="M4.5 2.8v10.4L13 8z" fill="currentColor" />,
  lock: <path d="M3.5 7.5h9v6.5h-9zM5.5 7.5V5a2.5 2.5 0 015 0v2.5" />,
  empty: <path d="M2 9.5L4 3h8l2 6.5V13H2zM2 9.5h3.5L6.5 11h3l1-1.5H14" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof DRAWN;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className={`cv-icon cv-icon-${name}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {DRAWN[name]}
    </svg>
  );
}

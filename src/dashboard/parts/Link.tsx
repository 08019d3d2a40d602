/** A link within the dashboard. */
import type { ReactNode } from "react";
import { useLinks } from "../frame/context.js";
import type { Place } from "../places.js";

export function Link({
  to,
  className,
  isCurrent = false,
  label,
  children,
}: {
  to: Place;
  className?: string;
  /** It leads to the current page. */
  isCurrent?: boolean;
  /** The accessible name, in place of the content. */
  label?: string;
  children: ReactNode;
}) {
  const { hrefOf } = useLinks();
  return (
    <a
      href={hrefOf(to)}
      className={`cv-link ${className ?? ""}`}
      aria-current={isCurrent ? "true" : undefined}
      aria-label={label}
    >
      {children}
    </a>
  );
}

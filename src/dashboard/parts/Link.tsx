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
  /** It leads to what is shown. */
  isCurrent?: boolean;
  /** What a screen reader says in place of what stands in it. */
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

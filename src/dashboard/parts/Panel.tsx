/** A titled part of a page, which fails alone. */
import { useId, type ReactNode } from "react";
import { Guard } from "./Guard.js";
import { Heading } from "./Heading.js";

export function Panel({
  title,
  of,
  beside,
  className = "",
  children,
}: {
  title: string;
  /** What it is about: it is tried anew with another. */
  of?: string;
  /** Stands beside the title. */
  beside?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={`cv-panel ${className}`} aria-labelledby={id}>
      <div className="cv-panel-head">
        <Heading under={1} id={id}>
          {title}
        </Heading>
        {beside}
      </div>
      <Guard label={`“${title}”`} {...(of === undefined ? {} : { of })}>
        {children}
      </Guard>
    </section>
  );
}

/** A titled part of a page; its error stays in it. */
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
  /** Its subject: with another one, a failed panel tries again. */
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
      <Guard label={title} {...(of === undefined ? {} : { of })}>
        {children}
      </Guard>
    </section>
  );
}

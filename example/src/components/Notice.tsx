/** A calm box that says that something is missing, and the way out. */
import type { ReactNode } from "react";

export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="notice">
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  );
}

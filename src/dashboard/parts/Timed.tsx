/** A text of the labels, with a time in the place of `{time}`. */
import type { ReactNode } from "react";

const PLACE = "{time}";

export function Timed({ text, children }: { text: string; children: ReactNode }) {
  const at = text.indexOf(PLACE);
  if (at === -1) return text;
  return (
    <>
      {text.slice(0, at)}
      {children}
      {text.slice(at + PLACE.length)}
    </>
  );
}

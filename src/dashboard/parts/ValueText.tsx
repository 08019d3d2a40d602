/** A job's value as text that can be selected. */
import { useState } from "react";
import { useLabels } from "../frame/context.js";
import { numeral } from "../words.js";

/** Characters shown at first: a payload of megabytes would block the page. */
const SHOWN_CHARACTERS = 20_000;

export function ValueText({ value, label }: { value: unknown; label?: string }) {
  const [isWhole, setIsWhole] = useState(false);
  const { showAll } = useLabels().page;
  const text = textOf(value);
  const isLong = text.length > SHOWN_CHARACTERS && !isWhole;
  return (
    <>
      <pre
        className="cv-text"
        // Scrollable by keyboard.
        tabIndex={0}
        {...(label === undefined ? {} : { role: "group", "aria-label": label })}
      >
        {isLong ? text.slice(0, SHOWN_CHARACTERS) : text}
      </pre>
      {isLong && (
        <button type="button" className="cv-button cv-quiet" onClick={() => setIsWhole(true)}>
          {showAll(text.length)}
        </button>
      )}
    </>
  );
}

/** JSON, with a notation for values that JSON lacks. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, written, 2) ?? String(value);
}

function written(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof ArrayBuffer) return `<${numeral(value.byteLength)} bytes>`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return value;
}

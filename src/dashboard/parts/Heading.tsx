/** A heading whose level fits where the dashboard stands in its page. */
import { createElement, type ReactNode } from "react";
import { useFrame } from "../frame/context.js";

export function Heading({
  under = 0,
  id,
  className,
  children,
}: {
  /** How far below the main heading. */
  under?: 0 | 1 | 2;
  id?: string;
  className?: string;
  children: ReactNode;
}) {
  const level = Math.min(6, useFrame().headingLevel + under);
  const attributes = { id, className: `cv-heading cv-heading-${under} ${className ?? ""}` };
  // The main one takes the focus when one has gone elsewhere.
  const focusable = under === 0 ? { tabIndex: -1 } : {};
  return createElement(`h${level}`, { ...attributes, ...focusable }, children);
}

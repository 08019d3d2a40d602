/** A short text in the place of data: empty, not allowed, or failed. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon.js";

export function Notice({
  title,
  icon = "empty",
  isBad = false,
  children,
}: {
  title: string;
  icon?: IconName;
  isBad?: boolean;
  children?: ReactNode;
}) {
  return (
    <div className={`cv-notice ${isBad ? "cv-notice-bad" : ""}`} role={isBad ? "alert" : undefined}>
      <Icon name={icon} />
      <p className="cv-notice-title">{title}</p>
      {children !== undefined && <div className="cv-notice-words">{children}</div>}
    </div>
  );
}

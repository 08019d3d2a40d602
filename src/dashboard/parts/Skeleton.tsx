/** Grey bars in the place of loading data, with a text for screen readers. */
import { useLabels } from "../frame/context.js";

export function Skeleton({ lines = 3, tall = false }: { lines?: number; tall?: boolean }) {
  const { loading } = useLabels().page;
  return (
    <div className="cv-skeleton" aria-busy="true">
      <span className="cv-hidden">{loading}</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className={`cv-bone ${tall ? "cv-bone-tall" : ""}`} aria-hidden="true" />
      ))}
    </div>
  );
}

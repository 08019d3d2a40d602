/** Grey bars in the place of what is loading, and a word for those who cannot see them. */
export function Skeleton({ lines = 3, tall = false }: { lines?: number; tall?: boolean }) {
  return (
    <div className="cv-skeleton" aria-busy="true">
      <span className="cv-hidden">Loading…</span>
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className={`cv-bone ${tall ? "cv-bone-tall" : ""}`} aria-hidden="true" />
      ))}
    </div>
  );
}

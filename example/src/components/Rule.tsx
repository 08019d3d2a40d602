/** The letters and numbers along the picture's edge, by which tiles are named. */
export function Rule({
  side,
  count,
  nameOf,
}: {
  side: "top" | "left";
  count: number;
  nameOf: (n: number) => string;
}) {
  return (
    <div className={`rule rule-${side}`} aria-hidden="true">
      {Array.from({ length: count }, (_, n) => (
        <span key={n}>{nameOf(n)}</span>
      ))}
    </div>
  );
}

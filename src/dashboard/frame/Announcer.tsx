/** Tells what became of actions: in words for screen readers, and what failed for everybody, until it is taken away. */
import { useCallback, useRef, useState } from "react";

interface Complaint {
  readonly key: number;
  readonly words: string;
}

export function useAnnouncer() {
  const [said, setSaid] = useState("");
  const [complaints, setComplaints] = useState<readonly Complaint[]>([]);
  const next = useRef(0);
  const announce = useCallback((words: string) => setSaid(words), []);
  const complain = useCallback((words: string) => {
    next.current += 1;
    const key = next.current;
    setComplaints((before) => [...before, { key, words }]);
  }, []);
  const forget = (key: number) =>
    setComplaints((before) => before.filter((complaint) => complaint.key !== key));
  return { announce, complain, said, complaints, forget };
}

export function Announcer({
  said,
  complaints,
  forget,
}: Pick<ReturnType<typeof useAnnouncer>, "said" | "complaints" | "forget">) {
  return (
    <>
      <p className="cv-hidden" aria-live="polite">
        {said}
      </p>
      <div className="cv-complaints" aria-live="assertive">
        {complaints.map(({ key, words }) => (
          <p key={key} className="cv-complaint">
            <span>{words}</span>
            <button type="button" className="cv-button cv-quiet" onClick={() => forget(key)}>
              Dismiss
            </button>
          </p>
        ))}
      </div>
    </>
  );
}

/** Reports the outcome of actions: a success to screen readers, a failure to every reader until it is dismissed. */
import { useCallback, useRef, useState } from "react";
import { useLabels } from "./context.js";

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
  const { dismiss } = useLabels().page;
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
              {dismiss}
            </button>
          </p>
        ))}
      </div>
    </>
  );
}

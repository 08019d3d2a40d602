/** Asks before an action that the next click cannot undo: the browser's own dialog, which keeps the focus in it. */
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { useLabels } from "../frame/context.js";
import { useOff } from "../frame/reach.js";

interface Asked {
  /** On the button that asks. */
  readonly label: string;
  /** The accessible name of that button, where the label alone is too short. */
  readonly described?: string;
  readonly title: string;
  /** The consequences. */
  readonly children: ReactNode;
  /** On the button that confirms: the verb. */
  readonly verb: string;
  readonly isGrave?: boolean;
  readonly onConfirm: () => void;
}

/** A button that asks first. */
export function AskingButton(asked: Asked) {
  const [isOpen, setIsOpen] = useState(false);
  const off = useOff();
  return (
    <>
      <button
        type="button"
        className={`cv-button ${asked.isGrave ? "cv-grave" : ""}`}
        aria-haspopup="dialog"
        aria-label={asked.described}
        {...off}
        onClick={() => setIsOpen(true)}
      >
        {asked.label}
      </button>
      {isOpen && <Dialog {...asked} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function Dialog({
  title,
  children,
  verb,
  isGrave = false,
  onConfirm,
  onClose,
}: Asked & { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [titleId, wordsId] = [useId(), useId()];
  const off = useOff();
  const { back } = useLabels().page;
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Closed before it unmounts: then the browser returns the focus to the button that asked.
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="cv-dialog"
      aria-labelledby={titleId}
      aria-describedby={wordsId}
      // The event can come late, when the dialog is open again, as in React's strict mode.
      onClose={() => dialog.current?.open !== true && onClose()}
      // A click beside the box is on the dialog itself.
      onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          dialog.current?.close();
          onConfirm();
        }}
      >
        <p id={titleId} className="cv-dialog-title">
          {title}
        </p>
        <div id={wordsId} className="cv-dialog-words">
          {children}
        </div>
        <div className="cv-actions">
          <button type="button" className="cv-button" onClick={() => dialog.current?.close()}>
            {back}
          </button>
          <button
            type="submit"
            className={`cv-button ${isGrave ? "cv-grave-full" : "cv-primary"}`}
            {...off}
          >
            {verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

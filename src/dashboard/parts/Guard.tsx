/**
 * Keeps one panel's error to that panel: the rest of the page works on, and the panel shows the error or the refusal. Each may
 * pass, as a timeout does or the time before the reader is signed in: the panel tries again by itself, ever less often.
 */
import { Component, useEffect, useRef, type ReactNode } from "react";
import { useLabels } from "../frame/context.js";
import { isRefusal, messageOf } from "../words.js";
import { Heading } from "./Heading.js";
import { Notice } from "./Notice.js";

interface Props {
  /** The part that cannot be shown then: "workers". */
  readonly label: string;
  /** A change of it tries again: another job, another filter. */
  readonly of?: string;
  /** The view's heading, where it is inside the guard. */
  readonly heading?: string;
  readonly children: ReactNode;
}

/** The first wait before another try; each one is twice as long as the one before. */
const AGAIN_MS = 5_000;
const AGAIN_MAX_MS = 60_000;

interface State {
  readonly failed: { readonly error: unknown } | undefined;
  readonly of: string | undefined;
  /** Tries since then. */
  readonly tries: number;
}

export class Guard extends Component<Props, State> {
  override state: State = { failed: undefined, of: this.props.of, tries: 0 };

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.of === state.of ? null : { failed: undefined, of: props.of, tries: 0 };
  }

  private readonly again = () =>
    this.setState(({ tries }) => ({ failed: undefined, tries: tries + 1 }));

  override render() {
    const { failed, tries } = this.state;
    if (failed === undefined) return this.props.children;
    const { label, heading } = this.props;
    return (
      <>
        {heading !== undefined && <Heading>{heading}</Heading>}
        <Failed
          label={label}
          error={failed.error}
          waitMs={Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** tries)}
          onAgain={this.again}
        />
      </>
    );
  }
}

function Failed(props: { label: string; error: unknown; waitMs: number; onAgain: () => void }) {
  const { label, error, waitMs, onAgain } = props;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      // A button that has the focus is not taken away.
      if (document.activeElement !== button.current) onAgain();
    }, waitMs);
    return () => clearInterval(timer);
  }, [waitMs, onAgain]);
  const { noAccess, loadFailed, tryAgain } = useLabels().page;
  const isRefused = isRefusal(error);
  return (
    <Notice
      title={isRefused ? noAccess(label) : loadFailed(label)}
      icon={isRefused ? "lock" : "failed"}
      isBad
    >
      <p>{messageOf(error)}</p>
      <button ref={button} type="button" className="cv-button" onClick={onAgain}>
        {tryAgain}
      </button>
    </Notice>
  );
}

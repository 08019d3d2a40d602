/** Keeps one panel's error to that panel: the rest of the page works on, and the panel shows the error or the refusal. */
import { Component, type ReactNode } from "react";
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

interface State {
  readonly failed: { readonly error: unknown } | undefined;
  readonly of: string | undefined;
}

export class Guard extends Component<Props, State> {
  override state: State = { failed: undefined, of: this.props.of };

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.of === state.of ? null : { failed: undefined, of: props.of };
  }

  override render() {
    const { failed } = this.state;
    if (failed === undefined) return this.props.children;
    const { label, heading } = this.props;
    return (
      <>
        {heading !== undefined && <Heading>{heading}</Heading>}
        <Failed
          label={label}
          error={failed.error}
          onAgain={() => this.setState({ failed: undefined })}
        />
      </>
    );
  }
}

function Failed(props: { label: string; error: unknown; onAgain: () => void }) {
  const { label, error, onAgain } = props;
  const { noAccess, loadFailed, tryAgain } = useLabels().page;
  const isRefused = isRefusal(error);
  return (
    <Notice
      title={isRefused ? noAccess(label) : loadFailed(label)}
      icon={isRefused ? "lock" : "failed"}
      isBad
    >
      <p>{messageOf(error)}</p>
      <button type="button" className="cv-button" onClick={onAgain}>
        {tryAgain}
      </button>
    </Notice>
  );
}

/** Keeps one panel's error to that panel: the rest goes on, and the reader is told what failed, or that it is not for them. */
import { Component, type ReactNode } from "react";
import { isRefusal, messageOf } from "../words.js";
import { Heading } from "./Heading.js";
import { Notice } from "./Notice.js";

interface Props {
  /** What cannot be shown then: "The workers". */
  readonly label: string;
  /** With another one, it is tried anew: another job, another filter. */
  readonly of?: string;
  /** The view's heading, where that is among what fails. */
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
    const isRefused = isRefusal(failed.error);
    return (
      <>
        {heading !== undefined && <Heading>{heading}</Heading>}
        <Notice
          title={`${label} cannot be shown${isRefused ? " to you" : ""}`}
          icon={isRefused ? "lock" : "failed"}
          isBad
        >
          <p>{messageOf(failed.error)}</p>
          <button
            type="button"
            className="cv-button"
            onClick={() => this.setState({ failed: undefined })}
          >
            {isRefused ? "Ask again" : "Try again"}
          </button>
        </Notice>
      </>
    );
  }
}

/** Keeps one panel's error to that panel: the rest of the page goes on, and the panel shows its error. */
import { Component, type ReactNode } from "react";
import { messageOf } from "../errors.js";

interface Props {
  readonly label: string;
  readonly children: ReactNode;
}

export class Guard extends Component<Props, { error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <section className="notice notice-bad" role="alert">
        <h2>{this.props.label} cannot be shown</h2>
        <p>{messageOf(this.state.error)}</p>
        <button type="button" onClick={() => this.setState({ error: undefined })}>
          Try again
        </button>
      </section>
    );
  }
}

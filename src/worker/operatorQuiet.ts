/**
 * An operator's word that this worker is to claim nothing. Each answer to a claim, a completion or a beat says it. From
 * then on it is subscribed to, so that the end of it is known at once; before, it costs no call and no subscription.
 */
export class OperatorQuiet {
  private isOn = false;
  private unfollow = () => {};

  constructor(
    private readonly follow: (onValue: (isQuiet: boolean) => void) => () => void,
    private readonly changed: (isQuiet: boolean) => void,
  ) {}

  learns(isQuiet: boolean): void {
    if (isQuiet === this.isOn) return;
    this.isOn = isQuiet;
    this.end();
    if (isQuiet) this.unfollow = this.follow((value) => this.learns(value));
    this.changed(isQuiet);
  }

  end(): void {
    this.unfollow();
    this.unfollow = () => {};
  }
}

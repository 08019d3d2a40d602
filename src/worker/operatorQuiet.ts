/**
 * An operator's word that this worker is to claim nothing. Each answer to a claim, a completion or a beat says it. From
 * then on it is subscribed to, so that the end of it is known at once; before, it costs no call and no subscription.
 */
export class OperatorQuiet {
  private isOn = false;
  private unfollow = () => {};

  constructor(
    private readonly follow: (onValue: (isQuiet: boolean) => void) => () => void,
    private readonly told: (isQuiet: boolean) => void,
  ) {}

  heard(isQuiet: boolean): void {
    if (isQuiet === this.isOn) return;
    this.isOn = isQuiet;
    this.end();
    if (isQuiet) this.unfollow = this.follow((value) => this.heard(value));
    this.told(isQuiet);
  }

  end(): void {
    this.unfollow();
    this.unfollow = () => {};
  }
}

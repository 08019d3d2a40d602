/** A worker's name with its colour. The name carries the meaning; the colour only helps to find it again. */
import { workerColor } from "../workerColor.js";

export function WorkerName({ name }: { name: string }) {
  return (
    <span className="worker-name" style={workerColor(name)}>
      <i className="swatch" aria-hidden="true" />
      {name}
    </span>
  );
}

/** A row of radio buttons: native ones, so that arrows, focus and screen readers work as people expect. */
import { useId } from "react";

interface Props<Value extends string> {
  readonly legend: string;
  readonly options: readonly Value[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  /** Shows each option's colours next to its name. */
  readonly swatches?: boolean;
}

export function Choices<Value extends string>(props: Props<Value>) {
  const name = useId();
  return (
    <fieldset className="choices">
      <legend>{props.legend}</legend>
      {props.options.map((option) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            value={option}
            checked={option === props.value}
            onChange={() => props.onChange(option)}
          />
          <span>
            {props.swatches && <i className={`palette palette-${option}`} aria-hidden="true" />}
            {option}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Narrows a list of jobs: a typed filter goes into the address, and so into the list. */
import { useEffect, useId, useRef } from "react";
import type { ListFilter } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { useLook } from "./useLook.js";

/** A pause in typing before the list is read again. */
const PAUSE_MS = 350;

const FIELDS = ["name", "worker", "tag", "group"] as const satisfies readonly (keyof ListFilter)[];

export function JobFilters({ queue }: { queue: string }) {
  const { look, change } = useLook(queue);
  const { filter, order } = look;
  const labels = useLabels().jobs;
  const isNarrowed = FIELDS.some((field) => filter[field] !== undefined);
  const narrow = (field: keyof ListFilter, text: string) => {
    const { [field]: _before, ...rest } = filter;
    const next: ListFilter = text === "" ? rest : { ...rest, [field]: text };
    change({ filter: next }, { replace: true });
  };
  return (
    <form className="cv-filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {FIELDS.map((field) => (
        <TypedField
          key={field}
          label={labels[field]}
          value={filter[field] ?? ""}
          onTyped={(text) => narrow(field, text)}
        />
      ))}
      <label className="cv-field">
        <span>{labels.order}</span>
        <select
          className="cv-input"
          value={order}
          onChange={(event) => change({ order: event.target.value === "next" ? "next" : "newest" })}
        >
          <option value="newest">{labels.newest}</option>
          <option value="next">{labels.next}</option>
        </select>
      </label>
      {isNarrowed && (
        <button
          type="button"
          className="cv-button cv-quiet"
          onClick={() => change({ filter: onlyStatus(filter) })}
        >
          {labels.clearFilters}
        </button>
      )}
    </form>
  );
}

const onlyStatus = ({ status }: ListFilter): ListFilter => (status === undefined ? {} : { status });

function TypedField({
  label,
  value,
  onTyped,
}: {
  label: string;
  value: string;
  onTyped: (text: string) => void;
}) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const said = useRef(value);
  // The address may change without typing: by a link, by going back. A change by typing leaves what was typed since.
  useEffect(() => {
    if (input.current && value !== said.current) input.current.value = value;
    said.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The rest of the filter may have changed since the key was pressed: the newest one is narrowed.
  const latest = useRef({ value, onTyped });
  useEffect(() => {
    latest.current = { value, onTyped };
  });
  const say = () => {
    clearTimeout(timer.current);
    const text = input.current?.value.trim() ?? "";
    if (text === latest.current.value) return;
    said.current = text;
    latest.current.onTyped(text);
  };
  return (
    <div className="cv-field">
      <label htmlFor={id}>{label}</label>
      <input
        ref={input}
        id={id}
        className="cv-input"
        type="search"
        defaultValue={value}
        autoComplete="off"
        spellCheck={false}
        onChange={() => {
          clearTimeout(timer.current);
          timer.current = setTimeout(say, PAUSE_MS);
        }}
        onBlur={say}
        onKeyDown={(event) => event.key === "Enter" && say()}
      />
    </div>
  );
}

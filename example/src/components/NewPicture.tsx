/** The form for the next picture. */
import { useState, type FormEvent } from "react";
import type { Palette } from "../../convex/scene.js";
import { useCreatePicture } from "../data.js";
import {
  PALETTES,
  QUALITIES,
  sceneOf,
  SIZES,
  tileCountOf,
  VIEWS,
  type Quality,
  type Size,
} from "../presets.js";
import { OUT_OF_REACH_ID, useOutOfReach } from "../useReach.js";
import { useTask } from "../useTask.js";
import { Choices } from "./Choices.js";

export function NewPicture({ onCreated }: { onCreated: (picture: string) => void }) {
  const [viewName, setViewName] = useState(VIEWS[0]!.name);
  const view = VIEWS.find(({ name }) => name === viewName)!;
  const [palette, setPalette] = useState<Palette>(view.palette);
  const [size, setSize] = useState<Size>("medium");
  const [quality, setQuality] = useState<Quality>("fine");
  const [fragile, setFragile] = useState(false);
  const create = useTask(useCreatePicture());
  const outOfReach = useOutOfReach();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const scene = sceneOf({ view, palette, size, quality });
    const picture = await create.run({ title: view.name, scene, fragile });
    if (picture !== undefined) onCreated(picture);
  };

  return (
    <section className="panel" id="new-picture" aria-labelledby="new-title">
      <h2 id="new-title">New picture</h2>
      <form onSubmit={(event) => void submit(event)}>
        <ViewSelect
          value={viewName}
          onChange={(name) => {
            setViewName(name);
            setPalette(VIEWS.find((one) => one.name === name)!.palette);
          }}
        />
        <Choices
          legend="Colours"
          options={PALETTES}
          value={palette}
          onChange={setPalette}
          swatches
        />
        <Choices legend="Size" options={keysOf(SIZES)} value={size} onChange={setSize} />
        <Choices
          legend="Quality"
          options={keysOf(QUALITIES)}
          value={quality}
          onChange={setQuality}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={fragile}
            onChange={(event) => setFragile(event.target.checked)}
          />
          Let some of it fail once
        </label>
        <button
          type="submit"
          className="primary"
          disabled={create.busy || outOfReach}
          aria-describedby={outOfReach ? OUT_OF_REACH_ID : undefined}
        >
          Draw it in {tileCountOf(size)} tiles
        </button>
        {outOfReach && (
          <p className="empty">
            {create.busy
              ? "Asked for; the backend has yet to answer."
              : "Not while the backend is out of reach."}
          </p>
        )}
        {create.error !== undefined && (
          <p role="alert" className="problem">
            {create.error}
          </p>
        )}
      </form>
    </section>
  );
}

function ViewSelect({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  return (
    <label className="field">
      View
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {(["mandelbrot", "julia"] as const).map((kind) => (
          <optgroup key={kind} label={kind === "julia" ? "Julia sets" : "Mandelbrot set"}>
            {VIEWS.filter(({ fractal }) => fractal.kind === kind).map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function keysOf<Key extends string>(record: Record<Key, unknown>): Key[] {
  return Object.keys(record) as Key[];
}

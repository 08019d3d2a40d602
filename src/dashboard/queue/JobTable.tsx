/**
 * A long list of jobs as a table: only the rows in sight are drawn, and scrolling to the end loads more. It stays a real
 * table: two empty rows stand in for the rows that are not drawn, with their height.
 */
import { tableFeatures, useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, type KeyboardEvent, type UIEvent } from "react";
import type { ListedJob } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { jobColumns } from "./jobColumns.js";

/** The height of a row before it is measured. */
const ROW_PX = 53;

/** Rows drawn beyond the visible ones: the next row must exist when the focus moves to it. */
const ROWS_BEYOND = 6;

const features = tableFeatures({});

export function JobTable(props: {
  jobs: ListedJob[];
  /** The accessible name. */
  label: string;
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
}) {
  const { jobs, label, hasMore, isLoading, onMore } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const labels = useLabels().jobs;
  const columns = useMemo(() => jobColumns(labels), [labels]);
  const table = useTable({ features, columns, data: jobs, getRowId: ({ id }) => id });
  const { rows } = table.getRowModel();
  // No value that it returns is kept from one rendering to the next.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => rows[at]!.id,
    overscan: ROWS_BEYOND,
  });
  const drawn = virtualizer.getVirtualItems();
  // Only by scrolling: a filter that few jobs match would otherwise read the whole queue by itself.
  // And by the box itself: the virtualizer hears of a scroll after this.
  const moreAtEnd = ({ currentTarget: box }: UIEvent<HTMLElement>) => {
    const left = box.scrollHeight - box.scrollTop - box.clientHeight;
    if (hasMore && !isLoading && left < ROWS_BEYOND * ROW_PX) onMore();
  };
  const above = drawn[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  return (
    <div
      ref={scroller}
      className="cv-scroll cv-jobs"
      tabIndex={0}
      role="group"
      aria-label={label}
      aria-busy={isLoading}
      onScroll={moreAtEnd}
    >
      <table className="cv-table" aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <thead>
          {table.getHeaderGroups().map(({ id, headers }) => (
            <tr key={id} aria-rowindex={1}>
              {headers.map((header) => (
                <th key={header.id} scope="col" className={`cv-col-${header.column.id}`}>
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody onKeyDown={walkRows}>
          <Gap height={above} />
          {drawn.map(({ index, key }) => (
            <tr
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-rowindex={index + 2}
            >
              {rows[index]!.getAllCells().map((cell) => (
                <td key={cell.id} className={`cv-col-${cell.column.id}`}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
          <Gap height={below} />
        </tbody>
      </table>
      {hasMore && (
        <button type="button" className="cv-button cv-quiet" disabled={isLoading} onClick={onMore}>
          {isLoading ? labels.loadingMore : labels.loadMore}
        </button>
      )}
    </div>
  );
}

function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="cv-gap">
      {/* One cell: a span over columns that a narrow page hides would show them again. */}
      <td style={{ height }} />
    </tr>
  );
}

/** The arrow keys lead from a job's link to the next one. */
function walkRows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(event.target instanceof HTMLAnchorElement)) return;
  const row = event.target.closest("tr");
  const next = step === 1 ? row?.nextElementSibling : row?.previousElementSibling;
  const link = next?.querySelector("a");
  if (!link) return;
  event.preventDefault();
  link.focus();
}

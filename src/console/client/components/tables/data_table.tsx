import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { TEXTS } from "../../texts.ts";
import { fitTable } from "./fit_table.ts";

/** A column of a table. */
export interface Column<T> {
  /** Empty for a column of controls, which have names of their own. */
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Whether it has numbers, which are aligned at their end. Default: false. */
  readonly isNumeric?: boolean;
  /** Where the table is too wide, columns with the highest number are left out first. Default: 0, for never. */
  readonly leaveOut?: number;
}

/**
 * A table that cuts nothing off. Where it is too wide, it first leaves out columns by `leaveOut` and names them below.
 * If that is not enough, or in a narrow window, it is folded: a row has its first two cells side by side, and all
 * others below them with their titles. Roles are explicit, because a style that folds takes them from the elements.
 */
export function DataTable<T>({ label, columns, rows, keyOf, hrefOf }: {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** The page that a row leads to; the first cell has the link. Null, and by default, none. */
  readonly hrefOf?: (row: T) => string | null;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [leftOut, setLeftOut] = useState("");
  const fit = () => {
    if (host.current === null) return;
    const places = fitTable(host.current, columns.map(({ leaveOut = 0 }) => leaveOut));
    setLeftOut(places.map((place) => columns[place]?.title).join(", "));
  };
  const latest = useRef(fit);
  latest.current = fit;
  useLayoutEffect(fit);
  useEffect(() => {
    const resized = new ResizeObserver(() => latest.current());
    if (host.current !== null) resized.observe(host.current);
    return () => resized.disconnect();
  }, []);
  return (
    <>
      <div ref={host} class="table-scroll" role="group" aria-label={label} tabIndex={0}>
        <table role="table" aria-label={label}>
          <thead role="rowgroup">
            <tr role="row">{columns.map((column) => <Head key={column.title} {...column} />)}</tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => <Row key={keyOf(row)} row={row} columns={columns} href={hrefOf?.(row) ?? null} />)}
          </tbody>
        </table>
      </div>
      {leftOut !== "" && <p class="hint left-out">{TEXTS.app.leftOut(leftOut)}</p>}
    </>
  );
}

function Head<T>({ title, isNumeric }: Column<T>) {
  if (title === "") return <td role="cell" />;
  return <th scope="col" role="columnheader" class={isNumeric ? "numeric" : undefined}>{title}</th>;
}

function Row<T>({ row, columns, href }: {
  readonly row: T;
  readonly columns: readonly Column<T>[];
  readonly href: string | null;
}) {
  return (
    <tr role="row" class={href === null ? undefined : "linked"} onClick={href === null ? undefined : followRow}>
      {columns.map(({ title, cell, isNumeric }, place) => (
        <td key={title} role="cell" class={isNumeric ? "numeric" : undefined} data-title={title}>
          {place === 0 && href !== null ? <a class="row-link" href={href}>{cell(row)}</a> : cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Follows the link of a row by a click on what lies above the link, because a title is shown on hover. */
function followRow(event: MouseEvent & { readonly currentTarget: HTMLTableRowElement }): void {
  if (!(event.target instanceof Element) || event.target.closest("a, button, input, select, summary, label")) return;
  // With the keys that are pressed, so that the browser opens a tab as for the link itself.
  event.currentTarget.querySelector(".row-link")?.dispatchEvent(new MouseEvent("click", event));
}

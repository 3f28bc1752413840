import type { ComponentChildren } from "preact";

/** A column of a table. */
export interface Column<T> {
  /** Empty for a column of controls, which have names of their own. */
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Whether it has numbers, which are aligned at their end. Default: false. */
  readonly isNumeric?: boolean;
}

/** Tables with more columns are folded in narrow windows. */
const MAX_NARROW_COLUMNS = 3;

/**
 * A table. In narrow windows, one with many columns is folded: a row has its first two cells beside each other, and the
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
  const isFolding = columns.length > MAX_NARROW_COLUMNS;
  return (
    <div class={isFolding ? "table-scroll folding" : "table-scroll"} role="group" aria-label={label} tabIndex={0}>
      <table role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">{columns.map((column) => <Head key={column.title} {...column} />)}</tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => <Row key={keyOf(row)} row={row} columns={columns} href={hrefOf?.(row) ?? null} />)}
        </tbody>
      </table>
    </div>
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

import type { ComponentChildren } from "preact";

/** A column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Whether it has numbers, which are aligned at their end. Default: false. */
  readonly isNumeric?: boolean;
}

/** A table, which scrolls sideways in narrow windows. */
export function DataTable<T>({ label, columns, rows, keyOf, hrefOf }: {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** The page that a row leads to; the first cell has the link. Default: none. */
  readonly hrefOf?: (row: T) => string;
}) {
  return (
    <div class="table-scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumeric }) => (
              <th key={title} scope="col" class={isNumeric ? "numeric" : undefined}>{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              class={hrefOf === undefined ? undefined : "linked"}
              onClick={hrefOf === undefined ? undefined : followRow}
            >
              {columns.map(({ title, cell, isNumeric }, place) => (
                <td key={title} class={isNumeric ? "numeric" : undefined} data-title={title}>
                  {place === 0 && hrefOf !== undefined
                    ? <a class="row-link" href={hrefOf(row)}>{cell(row)}</a>
                    : cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Follows the link of a row by a click on what lies above the link, because a title is shown on hover. */
function followRow(event: MouseEvent & { readonly currentTarget: HTMLTableRowElement }): void {
  if (!(event.target instanceof Element) || event.target.closest("a, button, input, select, summary, label")) return;
  // With the keys that are pressed, so that the browser opens a tab as for the link itself.
  event.currentTarget.querySelector(".row-link")?.dispatchEvent(new MouseEvent("click", event));
}

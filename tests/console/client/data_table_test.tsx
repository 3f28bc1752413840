import { assert, assertEquals } from "@std/assert";
import { render } from "preact-render-to-string";
import { type Column, DataTable } from "../../../src/console/client/components/tables/data_table.tsx";
import { orderOf } from "../../../src/console/client/components/tables/fit_table.ts";

const COLUMNS: readonly Column<string>[] = ["Time", "Status", "Model", ""].map((title) => ({
  title,
  cell: (row) => `${title} ${row}`,
}));

function shown(columns: readonly Column<string>[], hrefOf?: (row: string) => string | null): string {
  return render(
    <DataTable
      label="Requests"
      rows={["one", "two"]}
      keyOf={(row) => row}
      columns={columns}
      {...hrefOf && { hrefOf }}
    />,
  );
}

Deno.test("the columns of a table that is too wide are left out by their number, and those without one never", () => {
  assertEquals(orderOf([0, 2, 0, 3, 1]), [3, 1, 4]);
  assertEquals(orderOf([0, 0]), []);
});

Deno.test("DataTable keeps its roles, which a folding style takes from the elements", () => {
  const roles = [...shown(COLUMNS).matchAll(/<(table|thead|tbody|tr|th|td)\b[^>]*? role="(\w+)"/g)];
  assertEquals(
    new Set(roles.map(([, element, role]) => `${element} ${role}`)),
    new Set([
      "table table",
      "thead rowgroup",
      "tbody rowgroup",
      "tr row",
      "th columnheader",
      "td cell",
    ]),
  );
});

Deno.test("DataTable is no landmark, and has no head for a column of controls", () => {
  const html = shown(COLUMNS);
  assert(!html.includes('role="region"'));
  assertEquals(html.match(/<th\b/g)?.length, 3);
});

Deno.test("DataTable links the rows that lead to a page", () => {
  const html = shown(COLUMNS, (row) => row === "one" ? "/console/one" : null);
  assertEquals(html.match(/class="linked"/g)?.length, 1);
  assertEquals(html.match(/<a [^>]*href="([^"]*)"/)?.[1], "/console/one");
});

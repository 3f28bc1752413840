import { DataTable } from "../../components/tables/data_table.tsx";
import { Instant } from "../../components/instant.tsx";
import type { AuditEntry } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { PriceValues } from "./price_values.tsx";

/** The beginning of the paths of entries of prices. */
const PATH = /^prices\//;

/** The latest changes of prices. */
export function PriceHistory({ entries }: { readonly entries: readonly AuditEntry[] }) {
  if (entries.length === 0) return <p class="hint">{TEXTS.prices.noHistory}</p>;
  return (
    <DataTable
      label={TEXTS.prices.history}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: TEXTS.prices.at, cell: ({ created_at }) => <Instant at={created_at} /> },
        { title: TEXTS.prices.model, cell: ({ path }) => <code>{path.replace(PATH, "")}</code> },
        { title: TEXTS.prices.actor, cell: ({ actor }) => actor },
        { title: TEXTS.prices.before, cell: ({ before }) => <PriceValues prices={valuesIn(before)} /> },
        { title: TEXTS.prices.after, cell: ({ after }) => <PriceValues prices={valuesIn(after)} /> },
      ]}
    />
  );
}

function valuesIn(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : null;
}

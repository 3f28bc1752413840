import { Badge } from "../../components/badge.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import type { PriceSource } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { PriceValues } from "./price_values.tsx";

/** The changes of prices that wait for a person. */
export function PendingTable({ pending, onApply }: {
  readonly pending: PriceSource["pending"];
  /** Applies the changes of models; null for a person who may not. */
  readonly onApply: ((models: readonly string[]) => void) | null;
}) {
  return (
    <>
      <DataTable
        label={TEXTS.prices.pending}
        rows={pending}
        keyOf={({ model }) => model}
        columns={[
          { title: TEXTS.prices.model, cell: ({ model }) => <code>{model}</code> },
          {
            title: TEXTS.prices.reason,
            cell: ({ reason }) => <Badge tone="warn">{TEXTS.prices.reasons[reason]}</Badge>,
          },
          { title: TEXTS.prices.before, cell: ({ before }) => <PriceValues prices={before} /> },
          { title: TEXTS.prices.after, cell: ({ after }) => <PriceValues prices={after} /> },
          ...onApply === null ? [] : [{
            title: TEXTS.prices.action,
            cell: ({ model }: { readonly model: string }) => (
              <button type="button" onClick={() => onApply([model])}>{TEXTS.prices.apply}</button>
            ),
          }],
        ]}
      />
      {onApply !== null && (
        <button
          type="button"
          class="more"
          onClick={() => onApply(pending.map(({ model }) => model))}
        >
          {TEXTS.prices.applyAll}
        </button>
      )}
    </>
  );
}

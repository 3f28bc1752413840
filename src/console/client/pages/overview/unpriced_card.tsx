import { DataTable } from "../../components/tables/data_table.tsx";
import { number } from "../../format.ts";
import type { TrafficAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Usage that vendors report and that has no price, the most frequent first. */
export function UnpricedCard({ unpriced }: { readonly unpriced: NonNullable<TrafficAnswer["now"]["unpriced"]> }) {
  return (
    <>
      <p>{TEXTS.overview.unpricedText}</p>
      <DataTable
        label={TEXTS.overview.unpriced}
        rows={unpriced.toSorted((one, other) => other.count - one.count)}
        keyOf={({ model, dimension }) => `${model} ${dimension}`}
        columns={[
          { title: TEXTS.overview.unpricedModel, cell: ({ model }) => model },
          { title: TEXTS.overview.dimension, cell: ({ dimension }) => <code>{dimension}</code> },
          { title: TEXTS.overview.unpricedRequests, isNumeric: true, cell: ({ count }) => number(count) },
        ]}
      />
    </>
  );
}

import { DataTable } from "../../components/tables/data_table.tsx";
import { dollars, number, percent } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { UsageAnswer, UsageGroup } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** A row of the table. */
interface Row {
  readonly name: string;
  /** The value that its usage has; null for others, and for usage whose value is not known. */
  readonly value: string | null;
  readonly sums: UsageGroup;
}

/** Usage by one dimension: days newest first, others by their cost. A row leads to its usage by day. */
export function UsageTable({ answer: { data, others = [], total }, dimension, parameters }: {
  readonly answer: UsageAnswer;
  readonly dimension: keyof typeof TEXTS.usage.dimensions;
  /** Of the address, which the links keep. */
  readonly parameters: Readonly<Record<string, string>>;
}) {
  const rows = [
    ...rowsOf(data, dimension),
    ...others.map((sums): Row => ({ name: TEXTS.usage.others, value: null, sums })),
  ];
  const sum = Number(total.cost);
  const leadsOn = dimension !== "day";
  return (
    <DataTable
      label={TEXTS.usage.tables[dimension]}
      rows={rows}
      keyOf={({ name, value }) => `${value === null} ${name}`}
      {...leadsOn && {
        hrefOf: ({ value }: Row) =>
          value === null ? null : hrefOf("usage", { ...parameters, group_by: "day", [dimension]: value }),
      }}
      columns={[
        { title: TEXTS.usage.dimensions[dimension], cell: ({ name }) => name },
        { title: TEXTS.usage.cost, isNumeric: true, cell: ({ sums }) => dollars(sums.cost) },
        {
          title: TEXTS.usage.share,
          leaveOut: 1,
          isNumeric: true,
          cell: ({ sums }) => percent(sum === 0 ? 0 : Number(sums.cost) / sum),
        },
        { title: TEXTS.usage.cacheSaved, leaveOut: 2, isNumeric: true, cell: ({ sums }) => dollars(sums.cache_saved) },
        { title: TEXTS.usage.requests, isNumeric: true, cell: ({ sums }) => number(sums.requests) },
        { title: TEXTS.usage.input, isNumeric: true, cell: ({ sums }) => number(sums.input_tokens) },
        { title: TEXTS.usage.output, isNumeric: true, cell: ({ sums }) => number(sums.output_tokens) },
        { title: TEXTS.usage.images, leaveOut: 3, isNumeric: true, cell: ({ sums }) => number(sums.images) },
        {
          title: TEXTS.usage.videoSeconds,
          leaveOut: 4,
          isNumeric: true,
          cell: ({ sums }) => number(sums.video_seconds),
        },
      ]}
    />
  );
}

function rowsOf(data: readonly UsageGroup[], dimension: string): Row[] {
  const rows = data.map((sums): Row => {
    const value = String(sums[dimension] ?? "");
    return { name: value || TEXTS.usage.unnamed, value: value || null, sums };
  });
  if (dimension === "day") return rows.reverse();
  return rows.sort((one, other) => Number(other.sums.cost) - Number(one.sums.cost));
}

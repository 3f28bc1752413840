import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { type Column, DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { Loading } from "../../components/loading.tsx";
import type { RangeEnds } from "../../components/span_choice.tsx";
import { compact, dollars, duration, localTime, number } from "../../format.ts";
import { hrefOf, query as address, setQuery } from "../../navigation.ts";
import { useLatest } from "../../lists/paged.ts";
import { usePolled } from "../../lists/polled.ts";
import type { TrafficAnswer, TrafficGroup } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { failuresOf } from "./traffic_points.ts";

const GROUPS = ["model", "provider", "account", "key"] as const;
/** The log is read for this, at most 50,000 requests, so it is not done every second. */
const REFRESH_MS = 30_000;
/** The log can begin later than the traffic by the length of a step. */
const LATER_SECONDS = 60;

/** The traffic by model, provider, account or key. */
export function BreakdownCard({ query, range }: {
  /** The time, as the gateway's API reads it. */
  readonly query: Readonly<Record<string, string>>;
  /** As it is in the address; null for a span that ends now. */
  readonly range: RangeEnds | null;
}) {
  const by = GROUPS.find((each) => each === address.value.get("group_by")) ?? "model";
  const name = JSON.stringify([query, by]);
  const load = (signal: AbortSignal) => read<TrafficAnswer>("/admin/v1/traffic", { ...query, group_by: by }, signal);
  const { data, error } = usePolled(name, load, query.to === undefined || query.to === "" ? REFRESH_MS : null);
  const answer = useLatest(name, data);
  return (
    <Card
      title={TEXTS.overview.breakdown}
      isWide
      actions={
        <Choice
          label={TEXTS.overview.groupBy}
          values={GROUPS}
          titles={TEXTS.overview.groups}
          value={by}
          onChange={(value) => setQuery({ group_by: value })}
        />
      }
    >
      {/* Without a log of requests there is no breakdown; the message says how to keep one. */}
      {error !== null && <p class="hint">{error.message}</p>}
      {answer === null ? error === null && <Loading /> : <Groups answer={answer} by={by} range={range} />}
    </Card>
  );
}

function Groups({ answer: { groups, total }, by, range }: {
  readonly answer: TrafficAnswer;
  readonly by: (typeof GROUPS)[number];
  readonly range: RangeEnds | null;
}) {
  if (groups === undefined || groups.data.length === 0) {
    return <EmptyState title={TEXTS.overview.noGroupsTitle}>{TEXTS.overview.noGroups}</EmptyState>;
  }
  return (
    <>
      <DataTable
        label={TEXTS.overview.breakdown}
        rows={groups.data}
        keyOf={({ name }) => String(name)}
        hrefOf={({ name }) => name === null ? null : hrefOf("requests", { [by]: name, ...range })}
        columns={[
          { title: TEXTS.overview.groups[by], cell: ({ name }) => name ?? TEXTS.overview.noGroup },
          ...COLUMNS,
        ]}
      />
      {groups.from > total.from + LATER_SECONDS && (
        <p class="hint">{TEXTS.overview.groupsFrom(localTime(groups.from))}</p>
      )}
      {groups.omitted > 0 && <p class="hint">{TEXTS.overview.groupsOmitted(number(groups.omitted))}</p>}
    </>
  );
}

const COLUMNS: readonly Column<TrafficGroup>[] = [
  { title: TEXTS.overview.count, isNumeric: true, cell: ({ requests }) => number(requests) },
  {
    title: TEXTS.overview.groupCallerErrors,
    isNumeric: true,
    leaveOut: 2,
    cell: (group) => number(failuresOf(group).caller),
  },
  {
    title: TEXTS.overview.groupServiceErrors,
    isNumeric: true,
    leaveOut: 1,
    cell: (group) => number(failuresOf(group).service),
  },
  {
    title: TEXTS.overview.groupTokens,
    isNumeric: true,
    leaveOut: 3,
    cell: ({ input_tokens, output_tokens }) => compact(input_tokens + output_tokens),
  },
  { title: TEXTS.overview.groupSpend, isNumeric: true, cell: ({ cost }) => dollars(cost) },
  {
    title: TEXTS.overview.groupFirstByte,
    isNumeric: true,
    leaveOut: 4,
    cell: ({ first_byte_ms: first }) => first === null ? TEXTS.app.noValue : duration(first.p50),
  },
  {
    title: TEXTS.overview.groupTotal,
    isNumeric: true,
    leaveOut: 5,
    cell: ({ duration_ms: total }) => total === null ? TEXTS.app.noValue : duration(total.p95),
  },
];

import { StatusBadge } from "../../components/badge.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { Instant } from "../../components/instant.tsx";
import { bytes, duration, number } from "../../format.ts";
import type { DeliveryWithAttempts } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The attempts of a delivery, with what receivers answered. */
export function DeliveryAttempts({ attempts }: { readonly attempts: DeliveryWithAttempts["attempt_log"] }) {
  if (attempts.length === 0) {
    return <EmptyState title={TEXTS.webhooks.noAttemptsTitle}>{TEXTS.webhooks.noAttempts}</EmptyState>;
  }
  return (
    <DataTable
      label={TEXTS.webhooks.attempts}
      rows={attempts}
      keyOf={({ number: count, started_at }) => `${count} ${started_at}`}
      columns={[
        { title: TEXTS.webhooks.number, cell: ({ number: count }) => number(count) },
        { title: TEXTS.webhooks.at, cell: ({ started_at }) => <Instant at={started_at} /> },
        {
          title: TEXTS.webhooks.status,
          cell: ({ status }) => status === null ? "" : <StatusBadge status={status} />,
        },
        { title: TEXTS.webhooks.took, isNumeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
        {
          title: TEXTS.webhooks.answered,
          isNumeric: true,
          cell: ({ answer_bytes }) => answer_bytes === null ? "" : bytes(answer_bytes),
        },
        {
          title: TEXTS.webhooks.outcome,
          cell: ({ failure, reason, answer_start }) => (
            <>
              {[failure, reason].filter((each) => each !== null).join(": ")}
              {answer_start !== null && <pre class="answer" tabIndex={0}>{answer_start}</pre>}
            </>
          ),
        },
      ]}
    />
  );
}

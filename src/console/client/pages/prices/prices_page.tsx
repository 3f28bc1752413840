import { useState } from "preact/hooks";
import { type ApiError, change, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { number } from "../../format.ts";
import type { Page } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite } from "../../session_state.ts";
import type { AuditEntry, ListAnswer, PriceSource } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { PendingTable } from "./pending_table.tsx";
import { PriceHistory } from "./price_history.tsx";

const REFRESH_MS = 15_000;
const HISTORY_SIZE = 50;

/** The price source, the changes of prices that wait, and the latest ones. */
export const pricesPage: Page = {
  path: "prices",
  title: TEXTS.prices.title,
  icon: "prices",
  audience: "operators",
  View: Prices,
};

function Prices() {
  const { data, error, reload } = usePolled(
    "prices",
    (signal) => read<PriceSource>("/admin/v1/prices", {}, signal),
    REFRESH_MS,
  );
  const history = usePolled(
    "price history",
    (signal) => read<ListAnswer<AuditEntry>>("/admin/v1/prices/history", { limit: HISTORY_SIZE }, signal),
    REFRESH_MS,
  );
  const [failure, setFailure] = useState<ApiError | null>(null);
  const send = async (path: string, body: Readonly<Record<string, unknown>> | null) => {
    setFailure(null);
    await change("POST", `/admin/v1/prices/${path}`, body).catch(setFailure);
    reload();
    history.reload();
  };
  return (
    <>
      <PageHead title={TEXTS.prices.title}>
        {data !== null && !data.is_built_in && canWrite() && (
          <button
            type="button"
            onClick={() => send("refresh", null)}
          >
            {TEXTS.prices.refresh}
          </button>
        )}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {failure !== null && <ErrorNotice error={failure} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          <Card title={TEXTS.prices.source}>
            <SourceFacts source={data} />
          </Card>
          {data.pending.length > 0 && (
            <section class="card wide">
              <h2>{TEXTS.prices.pending}</h2>
              <PendingTable
                pending={data.pending}
                onApply={canWrite() ? (models) => send("apply", { models }) : null}
              />
            </section>
          )}
          <section class="card wide">
            <h2>{TEXTS.prices.history}</h2>
            <PriceHistory entries={history.data?.data ?? []} />
          </section>
        </div>
      )}
    </>
  );
}

/** Where prices come from, and how the last reading ended. */
export function SourceFacts({ source }: { readonly source: PriceSource }) {
  if (source.is_built_in) return <p>{TEXTS.prices.builtIn}</p>;
  const { read_at, failure } = source;
  return (
    <>
      {source.is_stale && <ErrorNotice message={TEXTS.prices.stale} />}
      <dl class="facts">
        <dt>{TEXTS.prices.address}</dt>
        <dd>
          <code>{source.source}</code>
        </dd>
        <dt>{TEXTS.prices.models}</dt>
        <dd>{number(source.models)}</dd>
        <dt>{TEXTS.prices.every}</dt>
        <dd>{TEXTS.prices.hours(number(source.every / 3_600))}</dd>
        <dt>{TEXTS.prices.readAt}</dt>
        <dd>{read_at === null ? TEXTS.prices.never : <Instant at={read_at} />}</dd>
        {failure !== null && (
          <>
            <dt>{TEXTS.prices.failure}</dt>
            <dd>
              {failure.reason} <Instant at={failure.at} />
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

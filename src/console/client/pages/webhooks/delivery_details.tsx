import { useState } from "preact/hooks";
import { type ApiError, change, read } from "../../api.ts";
import { ActionForm } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { bytes, number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite, isOwner } from "../../session_state.ts";
import type { DeliveryWithAttempts } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { DeliveryAttempts } from "./delivery_attempts.tsx";
import { DeliveryState } from "./delivery_state.tsx";

const REFRESH_MS = 3_000;

/** One delivery with its attempts. */
export function DeliveryDetails({ task }: { readonly task: string }) {
  const address = `/admin/v1/deliveries/${encodeURIComponent(task)}`;
  const { data, error, reload } = usePolled(
    task,
    (signal) => read<DeliveryWithAttempts>(address, {}, signal),
    REFRESH_MS,
  );
  return (
    <>
      <p class="back">
        <a href={hrefOf("webhooks")}>← {TEXTS.webhooks.back}</a>
      </p>
      <PageHead title={<code class="title-code">{task}</code>}>
        {data !== null && <DeliveryState state={data.state} />}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          <Facts delivery={data} />
          <Card title={TEXTS.webhooks.request}>
            {isOwner() ? <SentRequest address={address} /> : <p class="hint">{TEXTS.webhooks.onlyOwners}</p>}
            {canWrite() && data.state !== "pending" && <Redeliver address={address} onRedelivered={reload} />}
          </Card>
          <Card title={TEXTS.webhooks.attempts} isWide>
            <DeliveryAttempts attempts={data.attempt_log} />
          </Card>
        </div>
      )}
    </>
  );
}

function Facts({ delivery: { account, event, url, attempts, next_attempt_at, settled_at, body_bytes, task } }: {
  readonly delivery: DeliveryWithAttempts;
}) {
  return (
    <Card title={TEXTS.webhooks.delivery}>
      <dl class="facts">
        <dt>{TEXTS.webhooks.account}</dt>
        <dd>
          {account === null
            ? TEXTS.webhooks.operator
            : <a href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>{account}</a>}
        </dd>
        {event.startsWith("video.") && (
          <>
            <dt>{TEXTS.webhooks.task}</dt>
            <dd>
              <a href={hrefOf(`videos/${encodeURIComponent(task)}`)}>{task}</a>
            </dd>
          </>
        )}
        <dt>{TEXTS.webhooks.event}</dt>
        <dd>{event}</dd>
        <dt>{TEXTS.webhooks.url}</dt>
        <dd>
          <code>{url}</code>
        </dd>
        <dt>{TEXTS.webhooks.attempts}</dt>
        <dd>{number(attempts)}</dd>
        {next_attempt_at !== null && (
          <>
            <dt>{TEXTS.webhooks.next}</dt>
            <dd>
              <Instant at={next_attempt_at} />
            </dd>
          </>
        )}
        {settled_at !== null && (
          <>
            <dt>{TEXTS.webhooks.ended}</dt>
            <dd>
              <Instant at={settled_at} />
            </dd>
          </>
        )}
        <dt>{TEXTS.webhooks.size}</dt>
        <dd>{bytes(body_bytes)}</dd>
      </dl>
    </Card>
  );
}

function Redeliver({ address, onRedelivered }: { readonly address: string; readonly onRedelivered: () => void }) {
  const [isStarted, setStarted] = useState(false);
  const redeliver = async () => {
    await change("POST", `${address}/redeliver`);
    setStarted(true);
    onRedelivered();
  };
  return (
    <>
      {isStarted && <p class="notice good" role="status">{TEXTS.webhooks.redelivered}</p>}
      <ActionForm submit={TEXTS.webhooks.redeliver} onSubmit={redeliver} />
    </>
  );
}

interface RequestAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function SentRequest({ address }: { readonly address: string }) {
  const [request, setRequest] = useState<RequestAnswer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const show = () => {
    setError(null);
    read<RequestAnswer>(`${address}/request`).then(setRequest, setError);
  };
  if (request !== null) {
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    return <pre tabIndex={0}>{[...headers, "", request.body].join("\n")}</pre>;
  }
  return (
    <>
      <p class="hint">{TEXTS.webhooks.requestHint}</p>
      {error !== null && <ErrorNotice error={error} />}
      <button type="button" onClick={show}>{TEXTS.webhooks.showRequest}</button>
    </>
  );
}

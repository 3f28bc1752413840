import { useState } from "preact/hooks";
import { read } from "../../api.ts";
import { StatusBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { dollars, localTime, number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite, isOwner, session } from "../../session_state.ts";
import { priceText } from "../../price_text.ts";
import { TEXTS } from "../../texts.ts";
import { explain } from "../../../../observers/request_log/printed/explain.ts";
import type { PrintedRequest } from "../../../../observers/request_log/printed/request_line.ts";
import { Bodies } from "./bodies.tsx";
import { CurlCard } from "./curl_card.tsx";
import { isForPrograms } from "./curl_text.ts";
import { type LoggedRequest, requestsEndpoint } from "./logged_request.ts";
import { playgroundPageOf } from "./playground_page_of.ts";
import { SessionCard } from "./session_card.tsx";
import { Timeline } from "./timeline.tsx";

/** Everything about one request. */
export function RequestDetails({ id }: { readonly id: string }) {
  const { data, error } = usePolled(
    id,
    (signal) => read<LoggedRequest>(`${requestsEndpoint()}/${encodeURIComponent(id)}`, {}, signal),
  );
  return (
    <>
      <p class="back">
        <a href={hrefOf("requests")}>← {TEXTS.requests.back}</a>
      </p>
      <PageHead title={<code class="title-code">{id}</code>}>
        {data !== null && <StatusBadge status={data.status} />}
        {data !== null && <PlaygroundLink request={data} />}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null ? error === null && <Loading /> : <Details request={data} />}
    </>
  );
}

function Details({ request }: { readonly request: LoggedRequest }) {
  const [body, setBody] = useState<string | null>(null);
  return (
    <div class="grid">
      {request.error !== null && (
        <div class="wide">
          <ErrorNotice message={`${request.error.code}: ${request.error.message ?? ""}`} />
        </div>
      )}
      <Card title={TEXTS.requests.timeline} isWide>
        <Timeline request={request} />
      </Card>
      <Card title={TEXTS.requests.facts}>
        <Facts request={request} />
      </Card>
      {isForOperators(request) && (
        <Card title={TEXTS.requests.explanation}>
          <div class="explanation">
            {explain(request, localTime).map((line) => (
              <p key={line} class={line.startsWith("  ") ? "nested" : undefined}>{line.trim()}</p>
            ))}
          </div>
        </Card>
      )}
      <Card title={TEXTS.requests.charges}>
        <Charges request={request} />
      </Card>
      {request.session && <SessionCard key={request.session} request={request} session={request.session} />}
      {isForPrograms(request) && <CurlCard request={request} body={body} />}
      {isOwner() && (
        <Card title={TEXTS.requests.bodies} isWide>
          <Bodies id={request.id} areKept={request.has_bodies === true} onRead={setBody} />
        </Card>
      )}
    </div>
  );
}

/** Opens a request of which the playground has the kind, for who can send requests there. */
function PlaygroundLink({ request: { id, endpoint } }: { readonly request: LoggedRequest }) {
  const page = playgroundPageOf(endpoint ?? "");
  if (page === null || (session.value?.kind === "operator" && !canWrite())) return null;
  return <a class="button small" href={hrefOf(page, { from: id })}>{TEXTS.requests.openInPlayground}</a>;
}

function isForOperators(request: LoggedRequest): request is LoggedRequest & PrintedRequest {
  return request.routes !== undefined && request.account !== undefined;
}

function Facts({ request }: { readonly request: LoggedRequest }) {
  const { account, key, model, served_model, provider, usage, cost, dropped, end, client_address } = request;
  const { endpoint, method, path, received_at } = request;
  const ends: Readonly<Record<string, string>> = TEXTS.requests.ends;
  return (
    <dl class="facts">
      <dt>{TEXTS.requests.arrived}</dt>
      <dd>
        <Instant at={received_at} />
      </dd>
      <dt>{TEXTS.requests.endpoint}</dt>
      <dd>
        <code>{method} {endpoint ?? path}</code>
      </dd>
      {account && (
        <>
          <dt>{TEXTS.requests.account}</dt>
          <dd>
            <a href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>{account}</a>
          </dd>
        </>
      )}
      <Fact
        name={TEXTS.requests.key}
        value={key}
        href={account && key ? hrefOf(`accounts/${encodeURIComponent(account)}/keys/${encodeURIComponent(key)}`) : null}
      />
      <Fact
        name={TEXTS.requests.model}
        value={model === served_model ? model : [model, served_model].join(" → ")}
        href={served_model === null ? null : hrefOf(`models/${encodeURIComponent(served_model)}`)}
      />
      <Fact
        name={TEXTS.requests.provider}
        value={provider}
        href={provider !== null && isForOperators(request) ? hrefOf(`providers/${encodeURIComponent(provider)}`) : null}
      />
      <Fact name={TEXTS.requests.address} value={client_address} />
      <Fact
        name={TEXTS.requests.session}
        value={request.session ?? null}
        href={request.session ? hrefOf("requests", { session: request.session }) : null}
      />
      <Fact name={TEXTS.requests.end} value={end === null ? null : ends[end] ?? end} />
      <Fact
        name={TEXTS.requests.tokens}
        value={usage === null ? null : `${number(usage.input_tokens)} + ${number(usage.output_tokens)}`}
      />
      <Fact name={TEXTS.requests.cost} value={cost === null ? null : dollars(cost)} />
      <Fact name={TEXTS.requests.dropped} value={dropped.length === 0 ? null : dropped.join(", ")} />
    </dl>
  );
}

/** Nothing if the value is not known. */
function Fact({ name, value, href = null }: {
  readonly name: string;
  readonly value: string | null;
  /** The page of the value; null, and by default, for none. */
  readonly href?: string | null;
}) {
  if (value === null || value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{href === null ? value : <a href={href}>{value}</a>}</dd>
    </>
  );
}

function Charges({ request: { charged, cost } }: { readonly request: LoggedRequest }) {
  if (charged.length === 0) return <p class="hint">{TEXTS.requests.noCharges}</p>;
  return (
    <>
      <DataTable
        label={TEXTS.requests.charges}
        rows={charged}
        keyOf={({ price, rate }) => `${price} ${rate}`}
        columns={[
          { title: TEXTS.requests.price, cell: ({ price }) => <code>{price}</code> },
          { title: TEXTS.requests.quantity, isNumeric: true, cell: ({ quantity }) => number(quantity) },
          { title: TEXTS.requests.rate, isNumeric: true, cell: ({ price, rate }) => priceText(price, rate) },
        ]}
      />
      {cost !== null && <p class="sum">{TEXTS.requests.cost}: {dollars(cost)}</p>}
    </>
  );
}

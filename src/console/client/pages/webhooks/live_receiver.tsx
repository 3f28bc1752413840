import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Badge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { hrefOf, navigate } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite } from "../../session_state.ts";
import type { OpenReceiver, ReceivedEvent } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const ENDPOINT = "/admin/v1/webhook-receivers";
const REFRESH_MS = 2_000;
const MINUTES = [5, 10, 30] as const;

/** The open receivers, or one of them with what it got. */
export function LiveReceiver({ id }: {
  /** Empty for the list. */
  readonly id: string;
}) {
  return (
    <>
      <p class="back">
        <a href={hrefOf(id === "" ? "webhooks" : "webhooks/receiver")}>
          ← {id === "" ? TEXTS.webhooks.back : TEXTS.receiver.back}
        </a>
      </p>
      <PageHead title={TEXTS.receiver.title} />
      {id === "" ? <Receivers /> : <Received id={id} />}
    </>
  );
}

function Receivers() {
  const { data, error } = usePolled(
    "receivers",
    (signal) => read<{ readonly data: readonly OpenReceiver[] }>(ENDPOINT, {}, signal),
    REFRESH_MS,
  );
  const open = async (fields: FormData) => {
    const { id } = await change<OpenReceiver>("POST", ENDPOINT, {
      account: String(fields.get("account") ?? "").trim(),
      minutes: Number(fields.get("minutes")),
    });
    navigate(hrefOf(`webhooks/receiver/${id}`));
  };
  return (
    <div class="grid">
      {error !== null && <ErrorNotice error={error} />}
      {canWrite() && (
        <Card title={TEXTS.receiver.openTitle}>
          <p class="hint">{TEXTS.receiver.hint}</p>
          <ActionForm submit={TEXTS.receiver.open} onSubmit={open}>
            <Field name={TEXTS.webhooks.account}>
              <input name="account" required maxLength={100} autocomplete="off" />
            </Field>
            <Field name={TEXTS.receiver.minutes}>
              <select name="minutes">{MINUTES.map((each) => <option key={each} value={each}>{each}</option>)}</select>
            </Field>
          </ActionForm>
        </Card>
      )}
      <Card title={TEXTS.receiver.openOnes}>
        {data === null && error === null && <Loading />}
        {data?.data.length === 0 && <EmptyState title={TEXTS.receiver.noneTitle}>{TEXTS.receiver.none}</EmptyState>}
        <ul class="difference">
          {data?.data.map(({ id, account, closes_at }) => (
            <li key={id}>
              <a href={hrefOf(`webhooks/receiver/${id}`)}>{account}</a>
              <span class="hint">
                {TEXTS.receiver.closes} <Instant at={closes_at} />
              </span>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Received({ id }: { readonly id: string }) {
  const address = `${ENDPOINT}/${encodeURIComponent(id)}`;
  const { data, error, reload } = usePolled(
    id,
    (signal) => read<OpenReceiver & { readonly data: readonly ReceivedEvent[] }>(address, {}, signal),
    REFRESH_MS,
  );
  const [isClosed, setClosed] = useState(false);
  const test = async () => {
    await change("POST", `${address}/test`);
    reload();
  };
  const close = async () => {
    await change("DELETE", address);
    setClosed(true);
    navigate(hrefOf("webhooks/receiver"));
  };
  if (data === null || isClosed) return error === null ? <Loading /> : <ErrorNotice error={error} />;
  return (
    <div class="grid">
      {error !== null && <ErrorNotice error={error} />}
      <Card title={TEXTS.receiver.address} isWide>
        <pre tabIndex={0}>{data.url}</pre>
        <p class="hint">
          {TEXTS.receiver.use} {TEXTS.receiver.closes} <Instant at={data.closes_at} />
        </p>
        {canWrite() && (
          <div class="actions">
            <ActionForm submit={TEXTS.receiver.test} onSubmit={test} />
            <ActionForm submit={TEXTS.receiver.close} isDangerous onSubmit={close} />
          </div>
        )}
      </Card>
      {data.data.length === 0 && (
        <div class="wide">
          <EmptyState title={TEXTS.receiver.waitingTitle}>{TEXTS.receiver.waiting}</EmptyState>
        </div>
      )}
      {data.data.map((event) => <Event key={event.number} event={event} />)}
    </div>
  );
}

function Event({ event: { number, received_at, via, verified, problem, headers, body } }: {
  readonly event: ReceivedEvent;
}) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Card
      title={TEXTS.receiver.event(String(number))}
      isWide
      actions={
        <span class="actions">
          <Badge tone="plain">{TEXTS.receiver.vias[via]}</Badge>
          <Badge tone={verified ? "good" : "bad"}>
            {verified ? TEXTS.receiver.verified : TEXTS.receiver.notVerified}
          </Badge>
          <Instant at={received_at} />
        </span>
      }
    >
      {problem !== null && <p class="notice bad">{problem}</p>}
      <pre tabIndex={0}>{[...lines, "", body].join("\n")}</pre>
    </Card>
  );
}

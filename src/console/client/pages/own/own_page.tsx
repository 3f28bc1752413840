import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { Stat } from "../../components/stat.tsx";
import { dollars, number } from "../../format.ts";
import type { Page } from "../../page.ts";
import { usePolled } from "../../polled.ts";
import type { OwnCredits, OwnKey, OwnLimits } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const REFRESH_MS = 10_000;

/** The account and the key of a caller. */
export const ownPage: Page = {
  path: "account",
  title: TEXTS.own.title,
  icon: "key",
  audience: "callers",
  View: Own,
};

function Own() {
  const credits = usePolled("credits", (signal) => read<OwnCredits>("/v1/credits", {}, signal), REFRESH_MS);
  const key = usePolled("key", (signal) => read<OwnKey>("/v1/key", {}, signal), REFRESH_MS);
  const error = credits.error ?? key.error;
  return (
    <>
      <PageHead title={key.data?.account.name ?? key.data?.account.id ?? TEXTS.own.title} />
      {error !== null && <ErrorNotice error={error} />}
      {key.data === null && error === null && <Loading />}
      <div class="grid">
        {credits.data !== null && (
          <dl class="stats wide">
            <Stat name={TEXTS.own.balance}>{dollars(credits.data.balance)}</Stat>
            <Stat name={TEXTS.own.held}>{dollars(credits.data.held)}</Stat>
            <Stat name={TEXTS.own.reserved}>{dollars(credits.data.reserved)}</Stat>
          </dl>
        )}
        {key.data !== null && <KeyCards ownKey={key.data} />}
      </div>
    </>
  );
}

function KeyCards({ ownKey: { id, name, prefix, created_at, expires_at, left, account } }: {
  readonly ownKey: OwnKey;
}) {
  return (
    <>
      <Card title={TEXTS.own.key}>
        <dl class="facts">
          <dt>{name ?? TEXTS.own.key}</dt>
          <dd>
            <code>{id}</code>
          </dd>
          <dt>{TEXTS.own.prefix}</dt>
          <dd>
            <code>{prefix}…</code>
          </dd>
          <dt>{TEXTS.own.created}</dt>
          <dd>
            <Instant at={created_at} />
          </dd>
          {expires_at !== null && (
            <>
              <dt>{TEXTS.own.expires}</dt>
              <dd>
                <Instant at={expires_at} />
              </dd>
            </>
          )}
        </dl>
      </Card>
      <Card title={TEXTS.own.left}>
        <Left left={left} />
      </Card>
      <Card title={TEXTS.own.accountLeft}>
        <Left left={account.left} />
      </Card>
    </>
  );
}

function Left({ left: { rpm, tpm, concurrency, budget } }: { readonly left: OwnLimits }) {
  if (!rpm && !tpm && !concurrency && !budget) return <p class="hint">{TEXTS.own.noLimits}</p>;
  return (
    <dl class="facts">
      {rpm && (
        <>
          <dt>{TEXTS.own.rpm}</dt>
          <dd>{number(rpm.left)}</dd>
        </>
      )}
      {tpm && (
        <>
          <dt>{TEXTS.own.tpm}</dt>
          <dd>{number(tpm.left)}</dd>
        </>
      )}
      {concurrency && (
        <>
          <dt>{TEXTS.own.concurrency}</dt>
          <dd>{number(concurrency.left)}</dd>
        </>
      )}
      {budget && (
        <>
          <dt>{TEXTS.own.budget}</dt>
          <dd>
            {dollars(budget.left)}
            {budget.resets_at !== null && (
              <div class="hint">
                {TEXTS.own.resets} <Instant at={budget.resets_at} />
              </div>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { Stat } from "../../components/stat.tsx";
import { dollars } from "../../format.ts";
import type { Page } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import type { OwnCredits, OwnKey } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { balanceText } from "../accounts/balance_text.ts";
import { LimitsLeft } from "../accounts/limits_left.tsx";

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
            <Stat name={TEXTS.own.balance} {...credits.data.unlimited && { note: dollars(credits.data.balance) }}>
              {balanceText(credits.data)}
            </Stat>
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
        <LimitsLeft left={left} />
      </Card>
      <Card title={TEXTS.own.accountLeft}>
        <LimitsLeft left={account.left} />
      </Card>
    </>
  );
}

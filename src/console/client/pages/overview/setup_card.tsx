import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Icon } from "../../components/icon.tsx";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import type { Account, AccountKey, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { formHref } from "../forms/form_href.ts";

const REFRESH_MS = 5_000;
/** The accounts of which it is read whether they have a key. A gateway with more is set up. */
const MAX_ACCOUNTS = 10;

/** What a gateway needs before its first request. */
export interface Setup {
  readonly hasProvider: boolean;
  /** The id of an account; null if there is none. */
  readonly account: string | null;
  readonly hasKey: boolean;
  readonly hasRequest: boolean;
}

/** The steps to a first request, as long as one of them is open. */
export function SetupCard({ hasProvider, hasTraffic }: {
  readonly hasProvider: boolean;
  /** Whether the gateway has counted requests, for gateways without a log of them. */
  readonly hasTraffic: boolean;
}) {
  const isFinal = ({ hasKey, hasRequest }: Read) => hasKey && hasRequest === true;
  const { data } = usePolled("setup", readSetup, { everyMs: REFRESH_MS, isFinal });
  if (data === null) return null;
  const setup = { ...data, hasProvider, hasRequest: data.hasRequest ?? hasTraffic };
  return setup.hasProvider && setup.hasKey && setup.hasRequest ? null : <SetupSteps setup={setup} />;
}

/** What is read; `hasRequest` is null for a gateway without a log of requests. */
type Read = Pick<Setup, "account" | "hasKey"> & { readonly hasRequest: boolean | null };

async function readSetup(signal: AbortSignal): Promise<Read> {
  const { data: accounts, next } = await read<ListAnswer<Account>>(
    "/admin/v1/accounts",
    { limit: MAX_ACCOUNTS },
    signal,
  );
  const active = accounts.filter(({ status }) => status === "active");
  const keys = await Promise.all(
    active.map(({ id }) =>
      read<ListAnswer<AccountKey>>(`/admin/v1/accounts/${encodeURIComponent(id)}/keys`, { limit: 1 }, signal)
    ),
  );
  // A gateway without a log answers with an error.
  const logged = await read<ListAnswer<unknown>>("/admin/v1/requests", { limit: 1 }, signal).catch(() => null);
  return {
    account: active[0]?.id ?? null,
    hasKey: next !== null || keys.some(({ data }) => data.length > 0),
    hasRequest: logged === null ? null : logged.data.length > 0,
  };
}

/** The steps, each with a link where it is open. */
export function SetupSteps({ setup: { hasProvider, account, hasKey, hasRequest } }: { readonly setup: Setup }) {
  const { steps } = TEXTS.overview.setup;
  const keyHref = account === null ? hrefOf("accounts") : formHref(`accounts/${encodeURIComponent(account)}`, "key");
  const rows = [
    { ...steps.provider, isDone: hasProvider, href: formHref("providers", "provider") },
    { ...steps.account, isDone: account !== null, href: hrefOf("accounts") },
    { ...steps.key, isDone: hasKey, href: keyHref },
    { ...steps.request, isDone: hasRequest, href: hrefOf("playground") },
  ];
  const next = rows.find(({ isDone }) => !isDone);
  return (
    <Card title={TEXTS.overview.setup.title} isWide>
      <ol class="setup">
        {rows.map((row) => (
          <li key={row.title} class={row.isDone ? "done" : ""}>
            <span class="setup-mark">{row.isDone && <Icon name="check" />}</span>
            <div>
              <strong>{row.title}</strong>
              <p class="hint">{row.isDone ? TEXTS.overview.setup.done : row.text}</p>
            </div>
            {!row.isDone && <a class={row === next ? "button primary" : "button"} href={row.href}>{row.action}</a>}
          </li>
        ))}
      </ol>
    </Card>
  );
}

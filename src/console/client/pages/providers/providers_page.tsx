import { useState } from "preact/hooks";
import { type ApiError, change, read } from "../../api.ts";
import { Badge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { CircuitBadge, ProviderBadge } from "../../components/provider_badge.tsx";
import { TestResults } from "../../components/test_results.tsx";
import { number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { Page, PageProps } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite } from "../../session_state.ts";
import type { ListedProvider, ProviderHealth, ProvidersAnswer, ProviderTest } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { formHref, shownForm } from "../forms/form_href.ts";
import { FormView } from "../forms/form_view.tsx";
import { ServiceSwitch } from "./service_switch.tsx";

const REFRESH_MS = 5_000;

/** The health of the providers. */
export const providersPage: Page = {
  path: "providers",
  title: TEXTS.providers.title,
  icon: "providers",
  audience: "operators",
  View: Providers,
};

/** @param props With the name of a provider in the address, only that one is shown. */
function Providers({ rest }: PageProps) {
  return shownForm() === "provider" ? <FormView form="provider" subject="" /> : <ProviderList rest={rest} />;
}

function ProviderList({ rest }: PageProps) {
  const { data, error, reload } = usePolled(
    "providers",
    (signal) => read<ProvidersAnswer>("/admin/v1/providers", {}, signal),
    REFRESH_MS,
  );
  const shown = data?.data.filter(({ name }) => rest === "" || name === rest) ?? [];
  return (
    <>
      {rest !== "" && (
        <p class="back">
          <a href={hrefOf("providers")}>← {TEXTS.providers.back}</a>
        </p>
      )}
      <PageHead title={rest === "" ? TEXTS.providers.title : rest}>
        {data !== null && (
          <span class="hint">
            {TEXTS.providers.since} <Instant at={data.since} />
          </span>
        )}
        {canWrite() && rest === "" && (
          <a class="button primary" href={formHref("providers", "provider")}>{TEXTS.forms.provider.add}</a>
        )}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && shown.length === 0 && (
        <EmptyState title={TEXTS.providers.emptyTitle}>{TEXTS.providers.empty}</EmptyState>
      )}
      <div class="grid">
        {shown.map((provider) => (
          <ProviderCard
            key={provider.name}
            provider={provider}
            title={rest === "" ? provider.name : TEXTS.providers.health}
            onChanged={reload}
          />
        ))}
      </div>
    </>
  );
}

function ProviderCard({ provider, title, onChanged }: {
  readonly provider: ListedProvider;
  readonly title: string;
  readonly onChanged: () => void;
}) {
  const { name, kind, service, limits, polls, credentials, last_failure_at, models } = provider;
  return (
    <Card
      title={title}
      actions={
        <span class="actions">
          <ProviderBadge provider={provider} />
          <Badge tone="plain">{kind}</Badge>
        </span>
      }
    >
      {service && <ServiceSwitch key={service.state} name={name} service={service} onChanged={onChanged} />}
      <dl class="facts">
        <dt>{TEXTS.providers.succeeded}</dt>
        <dd>{number(provider.succeeded)}</dd>
        <dt>{TEXTS.providers.failed}</dt>
        <dd>{number(provider.failed)}</dd>
        <dt>{TEXTS.providers.lastFailure}</dt>
        <dd>{last_failure_at === null ? TEXTS.providers.never : <Instant at={last_failure_at} />}</dd>
        {limits !== null && (
          <>
            <dt>{TEXTS.providers.limits}</dt>
            <dd>{TEXTS.providers.limitsText(number(limits.open), number(limits.waiting))}</dd>
          </>
        )}
        {polls && (
          <>
            <dt>{TEXTS.providers.polls}</dt>
            <dd>
              {TEXTS.providers.pollsText(number(polls.tasks), number(polls.per_second))}
              {polls.paused_until !== null && (
                <>
                  {" "}
                  {TEXTS.providers.pollsPaused} <Instant at={polls.paused_until} />
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      {models.length === 0 ? <p class="hint">{TEXTS.providers.unused}</p> : <Models label={name} models={models} />}
      {credentials.length > 0 && (
        <DataTable
          label={TEXTS.providers.credential}
          rows={credentials}
          keyOf={(credential) => credential.name}
          columns={[
            { title: TEXTS.providers.credential, cell: (credential) => credential.name },
            { title: TEXTS.providers.state, cell: (credential) => <ProviderBadge provider={credential} /> },
            { title: TEXTS.providers.succeeded, isNumeric: true, cell: ({ succeeded }) => number(succeeded) },
            { title: TEXTS.providers.failed, isNumeric: true, cell: ({ failed }) => number(failed) },
          ]}
        />
      )}
      {canWrite() && <TestButton name={name} />}
    </Card>
  );
}

function Models({ label, models }: { readonly label: string; readonly models: ProviderHealth["models"] }) {
  return (
    <DataTable
      label={label}
      rows={models}
      keyOf={({ model }) => model}
      columns={[
        { title: TEXTS.providers.model, cell: ({ model }) => <code>{model}</code> },
        {
          title: TEXTS.providers.circuit,
          cell: ({ circuit, open_for, rests_until }) => (
            <>
              <CircuitBadge circuit={circuit} />
              {rests_until !== null && (
                <div class="hint">
                  {TEXTS.providers.restsUntil} <Instant at={rests_until} />
                </div>
              )}
              {open_for !== null && <div class="hint">{TEXTS.providers.openFor} {open_for}</div>}
            </>
          ),
        },
        { title: TEXTS.providers.succeeded, isNumeric: true, cell: ({ succeeded }) => number(succeeded) },
        { title: TEXTS.providers.failed, isNumeric: true, cell: ({ failed }) => number(failed) },
      ]}
    />
  );
}

function TestButton({ name }: { readonly name: string }) {
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<ProviderTest | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const test = () => {
    setBusy(true);
    setError(null);
    change<ProviderTest>("POST", `/admin/v1/providers/${encodeURIComponent(name)}/test`)
      .then(setResult, setError).finally(() => setBusy(false));
  };
  return (
    <div class="provider-test">
      <button type="button" disabled={isBusy} aria-label={TEXTS.providers.testLabel(name)} onClick={test}>
        {isBusy ? TEXTS.providers.testing : TEXTS.providers.test}
      </button>
      {error !== null && <ErrorNotice error={error} />}
      {result !== null && <TestResults results={result.data} />}
    </div>
  );
}

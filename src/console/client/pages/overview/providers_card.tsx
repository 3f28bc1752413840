import { read } from "../../api.ts";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { ProviderBadge } from "../../components/provider_badge.tsx";
import { number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../polled.ts";
import type { ProvidersAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const REFRESH_MS = 10_000;

/** The providers with their states. */
export function ProvidersCard() {
  const { data, error } = usePolled(
    "providers",
    (signal) => read<ProvidersAnswer>("/admin/v1/providers", {}, signal),
    REFRESH_MS,
  );
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === null) return <Loading />;
  if (data.data.length === 0) {
    return <EmptyState title={TEXTS.providers.emptyTitle}>{TEXTS.providers.empty}</EmptyState>;
  }
  return (
    <DataTable
      label={TEXTS.overview.providers}
      rows={data.data}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => hrefOf(`providers/${encodeURIComponent(name)}`)}
      columns={[
        { title: TEXTS.providers.provider, cell: ({ name }) => name },
        { title: TEXTS.providers.state, cell: (provider) => <ProviderBadge provider={provider} /> },
        { title: TEXTS.providers.succeeded, isNumeric: true, cell: ({ succeeded }) => number(succeeded) },
        { title: TEXTS.providers.failed, isNumeric: true, cell: ({ failed }) => number(failed) },
      ]}
    />
  );
}

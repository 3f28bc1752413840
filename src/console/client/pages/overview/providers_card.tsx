import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ProviderBadge } from "../../components/provider_badge.tsx";
import { number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { ProvidersAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The providers with their states. */
export function ProvidersCard({ providers }: { readonly providers: ProvidersAnswer["data"] }) {
  if (providers.length === 0) {
    return <EmptyState title={TEXTS.providers.emptyTitle}>{TEXTS.providers.empty}</EmptyState>;
  }
  return (
    <DataTable
      label={TEXTS.overview.providers}
      rows={providers}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => hrefOf(`providers/${encodeURIComponent(name)}`)}
      columns={[
        { title: TEXTS.providers.provider, cell: ({ name }) => name },
        { title: TEXTS.providers.state, cell: (provider) => <ProviderBadge provider={provider} /> },
        {
          title: TEXTS.overview.waiting,
          isNumeric: true,
          cell: ({ limits }) => limits === null ? TEXTS.app.noValue : number(limits.waiting),
        },
        { title: TEXTS.providers.succeeded, isNumeric: true, cell: ({ succeeded }) => number(succeeded) },
        { title: TEXTS.providers.failed, isNumeric: true, cell: ({ failed }) => number(failed) },
      ]}
    />
  );
}

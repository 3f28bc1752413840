import { useState } from "preact/hooks";
import { type ApiError, change, read } from "../../api.ts";
import { Badge } from "../../components/badge.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { number } from "../../format.ts";
import { hrefOf, query } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { usePages } from "../../lists/paged.ts";
import { canWrite } from "../../session_state.ts";
import type { CachedContent, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const PAGE_SIZE = 50;
const REFRESH_MS = 10_000;
const ENDPOINT = "/admin/v1/caches";

/** The cached contents of all accounts. */
export const cachesPage: Page = {
  path: "caches",
  title: TEXTS.caches.title,
  icon: "caches",
  audience: "operators",
  View: Caches,
};

function Caches() {
  const account = query.value.get("account") ?? "";
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<CachedContent>>(ENDPOINT, { account, after, limit: PAGE_SIZE }, signal);
  const { rows, error, showMore, reload } = usePages<CachedContent>({
    name: `caches ${account}`,
    everyMs: REFRESH_MS,
    load,
  });
  const [refused, setRefused] = useState<ApiError | null>(null);
  const remove = async ({ id, name }: CachedContent) => {
    if (!confirm(TEXTS.caches.confirmDelete(name))) return;
    setRefused(null);
    try {
      await change("DELETE", `${ENDPOINT}/${encodeURIComponent(id)}`);
    } catch (failure) {
      setRefused(failure as ApiError);
    }
    reload();
  };
  return (
    <>
      <PageHead title={TEXTS.caches.title} />
      {error !== null && <ErrorNotice error={error} />}
      {refused !== null && <ErrorNotice error={refused} />}
      {rows === null && error === null && <Loading />}
      {rows !== null && (rows.length === 0
        ? <EmptyState title={TEXTS.caches.emptyTitle}>{TEXTS.caches.empty}</EmptyState>
        : <Table caches={rows} onDelete={canWrite() ? (cache) => void remove(cache) : null} />)}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="caches" load={load} />}
    </>
  );
}

function Table({ caches, onDelete }: {
  readonly caches: readonly CachedContent[];
  /** Null if the session may not delete caches. */
  readonly onDelete: ((cache: CachedContent) => void) | null;
}) {
  return (
    <DataTable
      label={TEXTS.caches.table}
      rows={caches}
      keyOf={({ id }) => id}
      columns={[
        {
          title: TEXTS.caches.cache,
          cell: ({ id, created_at }) => (
            <>
              <code>{id}</code>
              <div class="hint">
                {TEXTS.caches.created} <Instant at={created_at} />
              </div>
            </>
          ),
        },
        {
          title: TEXTS.caches.account,
          cell: ({ account }) => <a href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>{account}</a>,
        },
        {
          title: TEXTS.caches.model,
          cell: ({ model, tokens }) => (
            <>
              {model}
              <div class="hint">{TEXTS.caches.tokens(number(tokens))}</div>
            </>
          ),
        },
        {
          title: TEXTS.caches.provider,
          cell: ({ provider, stored_at }) => (
            <>
              {provider}
              <div>
                <Badge tone="plain">{TEXTS.caches.places[stored_at]}</Badge>
              </div>
            </>
          ),
        },
        {
          title: TEXTS.caches.hits,
          isNumeric: true,
          cell: ({ hits, last_hit_at }) => (
            <>
              {number(hits)}
              {last_hit_at !== null && (
                <div class="hint">
                  {TEXTS.caches.lastHit} <Instant at={last_hit_at} />
                </div>
              )}
            </>
          ),
        },
        { title: TEXTS.caches.expires, cell: ({ expires_at }) => <Instant at={expires_at} /> },
        ...onDelete === null ? [] : [{
          title: "",
          cell: (cache: CachedContent) => (
            <button
              type="button"
              class="danger small"
              aria-label={TEXTS.caches.deleteLabel(cache.id)}
              onClick={() => onDelete(cache)}
            >
              {TEXTS.caches.delete}
            </button>
          ),
        }],
      ]}
    />
  );
}

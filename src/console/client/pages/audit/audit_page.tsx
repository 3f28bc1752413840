import { read } from "../../api.ts";
import { Badge } from "../../components/badge.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { query, setQuery } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { usePolled } from "../../polled.ts";
import type { AuditEntry, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const PAGE_SIZE = 50;
const REFRESH_MS = 15_000;

/** The changes by operators. */
export const auditPage: Page = {
  path: "audit",
  title: TEXTS.audit.title,
  icon: "audit",
  audience: "operators",
  View: Audit,
};

function Audit() {
  const after = query.value.get("after") ?? "";
  const { data, error } = usePolled(
    `audit ${after}`,
    (signal) => read<ListAnswer<AuditEntry>>("/admin/v1/audit", { limit: PAGE_SIZE, after }, signal),
    REFRESH_MS,
  );
  const next = data?.next ?? null;
  return (
    <>
      <PageHead title={TEXTS.audit.title} />
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (data.data.length === 0
        ? <EmptyState title={TEXTS.audit.emptyTitle}>{TEXTS.audit.empty}</EmptyState>
        : <Table entries={data.data} />)}
      {next !== null && (
        <button
          type="button"
          class="more"
          onClick={() => setQuery({ after: next })}
        >
          {TEXTS.app.more}
        </button>
      )}
    </>
  );
}

function Table({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <DataTable
      label={TEXTS.audit.table}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: TEXTS.audit.at, cell: ({ created_at }) => <Instant at={created_at} /> },
        { title: TEXTS.audit.actor, cell: ({ actor }) => actor },
        { title: TEXTS.audit.address, cell: ({ address }) => address ?? "" },
        {
          title: TEXTS.audit.change,
          cell: ({ method, path, state }) => (
            <>
              <code>{method} {path}</code> {state === "begun" && <Badge tone="warn">{TEXTS.audit.begun}</Badge>}
            </>
          ),
        },
        { title: TEXTS.audit.account, cell: ({ account }) => account ?? "" },
        { title: TEXTS.audit.before, cell: ({ before }) => <Values value={before} hidesEmpty={false} /> },
        {
          title: TEXTS.audit.after,
          cell: ({ before, after }) => <Values value={after} hidesEmpty={before === null} />,
        },
      ]}
    />
  );
}

/** More fields are folded, so that one change does not fill the window. */
const MAX_OPEN_FIELDS = 4;

/** The changed fields, a line for each. */
function Values({ value, hidesEmpty }: {
  readonly value: unknown;
  /** Whether fields without a value are left out, of which a new object has many. */
  readonly hidesEmpty: boolean;
}) {
  if (typeof value !== "object" || value === null) return null;
  const fields = Object.entries(value).filter(([, field]) => !hidesEmpty || hasValue(field));
  const lines = fields.map(([name, field]) => (
    <div key={name}>
      <code>{name}: {JSON.stringify(field)}</code>
    </div>
  ));
  if (fields.length <= MAX_OPEN_FIELDS) return <div class="values">{lines}</div>;
  return (
    <details class="values">
      <summary>{TEXTS.audit.fields(String(fields.length))}</summary>
      {lines}
    </details>
  );
}

function hasValue(field: unknown): boolean {
  return field !== null && (typeof field !== "object" || Object.keys(field).length > 0);
}

import { read } from "../../api.ts";
import { Badge } from "../../components/badge.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { FilterForm, secondsOf, TextFilter, TimeFilter } from "../../components/filter_form.tsx";
import { Instant } from "../../components/instant.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { Loading } from "../../components/loading.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { query } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { usePages } from "../../lists/paged.ts";
import type { AuditEntry, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { auditSentence } from "./audit_sentence.ts";

const PAGE_SIZE = 50;
const REFRESH_MS = 15_000;
const FILTERS = ["actor", "account", "from", "to"];

/** The changes by operators. */
export const auditPage: Page = {
  path: "audit",
  title: TEXTS.audit.title,
  icon: "audit",
  audience: "operators",
  View: Audit,
};

function Audit() {
  const filters = Object.fromEntries(FILTERS.map((name) => [name, secondsOf(query.value.get(name) ?? "")]));
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<AuditEntry>>("/admin/v1/audit", { ...filters, limit: PAGE_SIZE, after }, signal);
  const { rows, error, showMore } = usePages<AuditEntry>({
    name: `audit ${JSON.stringify(filters)}`,
    everyMs: REFRESH_MS,
    load,
  });
  const isFiltered = Object.values(filters).some((value) => value !== "");
  // A page that examined many entries can be empty and still have a next one.
  const isEmpty = rows !== null && rows.length === 0 && showMore === null;
  return (
    <>
      <PageHead title={TEXTS.audit.title} />
      <FilterForm label={TEXTS.audit.filters} names={FILTERS}>
        <TextFilter parameter="actor" title={TEXTS.audit.actor} suggestions={valuesOf(rows, "actor")} />
        <TextFilter parameter="account" title={TEXTS.audit.account} suggestions={valuesOf(rows, "account")} />
        <TimeFilter parameter="from" title={TEXTS.requests.from} />
        <TimeFilter parameter="to" title={TEXTS.requests.to} />
      </FilterForm>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {isEmpty && (isFiltered
        ? <EmptyState title={TEXTS.audit.noneFoundTitle}>{TEXTS.audit.noneFound}</EmptyState>
        : <EmptyState title={TEXTS.audit.emptyTitle}>{TEXTS.audit.empty}</EmptyState>)}
      {rows !== null && rows.length > 0 && <Table entries={rows} />}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="audit" load={load} />}
    </>
  );
}

/** The different values of a field of the shown entries. */
function valuesOf(rows: readonly AuditEntry[] | null, field: "actor" | "account"): string[] {
  return [...new Set((rows ?? []).flatMap((row) => row[field] ?? []))].toSorted();
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
        {
          title: TEXTS.audit.change,
          cell: (entry) => <Change entry={entry} />,
        },
        { title: TEXTS.audit.address, leaveOut: 1, cell: ({ address }) => address ?? "" },
      ]}
    />
  );
}

/** A change as a sentence, with the request and the values on demand. */
function Change({ entry }: { readonly entry: AuditEntry }) {
  const { method, path, state, before, after } = entry;
  return (
    <div class="change">
      {auditSentence(entry)} {state === "begun" && <Badge tone="warn">{TEXTS.audit.begun}</Badge>}
      <details class="values">
        <summary class="hint">{TEXTS.audit.details}</summary>
        <div>
          <code>{method} {path}</code>
        </div>
        <Values title={TEXTS.audit.before} value={before} hidesEmpty={false} />
        <Values title={TEXTS.audit.after} value={after} hidesEmpty={before === null} />
      </details>
    </div>
  );
}

/** The changed fields, a line for each. */
function Values({ title, value, hidesEmpty }: {
  readonly title: string;
  readonly value: AuditEntry["after"];
  /** Whether fields without a value are left out, of which a new object has many. */
  readonly hidesEmpty: boolean;
}) {
  if (value === null) return null;
  return (
    <>
      <h3>{title}</h3>
      {Object.entries(value).filter(([, field]) => !hidesEmpty || hasValue(field)).map(([name, field]) => (
        <div key={name}>
          <code>{name}: {JSON.stringify(field)}</code>
        </div>
      ))}
    </>
  );
}

function hasValue(field: unknown): boolean {
  return field !== null && (typeof field !== "object" || Object.keys(field).length > 0);
}

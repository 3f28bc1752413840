import { useState } from "preact/hooks";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { navigate, query, setQuery, setTypedQuery } from "../../navigation.ts";
import { isOwner } from "../../session_state.ts";
import type { ConfigInForce, ConfigSetting } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ConfigHistory } from "./config_history.tsx";
import { STORED_SECTIONS } from "./config_change.ts";
import { useConfirmedChange } from "./confirmed_change.tsx";
import { OwnerBadge, ownerOf } from "./owner_badge.tsx";
import { settingHref } from "./setting_href.ts";

const VIEWS = ["set", "file", "store", "all"] as const;
type View = (typeof VIEWS)[number];

/** All settings by section, the reload of the file, and the history. */
export function ConfigList({ config, onChanged }: { readonly config: ConfigInForce; readonly onChanged: () => void }) {
  const { file, version, is_read_only: isReadOnly, shadowed, settings } = config;
  const view = VIEWS.find((each) => each === query.value.get("view")) ?? "set";
  const text = query.value.get("q") ?? "";
  const sections = Object.entries(settings)
    .map(([section, entries]) => ({ section, rows: rowsOf(section, entries, { view, text }) }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <>
      <PageHead title={TEXTS.configuration.title}>
        <Choice
          label={TEXTS.configuration.shown}
          values={VIEWS}
          titles={TEXTS.configuration.views}
          value={view}
          onChange={(value) => setQuery({ view: value })}
        />
      </PageHead>
      {isReadOnly ? <p class="notice">{TEXTS.configuration.readOnly}</p> : (
        <p class="hint config-facts">
          {TEXTS.configuration.file}: <code>{file ?? TEXTS.configuration.noFile}</code> · {TEXTS.configuration.version}:
          {" "}
          {version === 0 ? TEXTS.configuration.noVersion : version}
        </p>
      )}
      {shadowed.length > 0 && <p class="notice">{TEXTS.configuration.shadowed(shadowed.join(", "))}</p>}
      <search class="filters card">
        <Field name={TEXTS.configuration.search}>
          <input
            type="text"
            value={text}
            placeholder={TEXTS.configuration.searchHint}
            onInput={(event) => setTypedQuery({ q: event.currentTarget.value })}
          />
        </Field>
      </search>
      {sections.length === 0 && (
        <EmptyState title={TEXTS.configuration.noneFoundTitle}>{TEXTS.configuration.noneFound}</EmptyState>
      )}
      <div class="grid">
        {sections.map(({ section, rows }) => (
          <Card key={section} title={section} isWide>
            <Settings section={section} rows={rows} />
          </Card>
        ))}
        {isOwner() && !isReadOnly && <NewSetting />}
        {isOwner() && file !== null && <Reload onChanged={onChanged} />}
        {!isReadOnly && <ConfigHistory version={version} onChanged={onChanged} />}
      </div>
    </>
  );
}

interface Row extends ConfigSetting {
  readonly name: string;
}

/** The settings of a section that are shown. */
function rowsOf(
  section: string,
  entries: Readonly<Record<string, ConfigSetting>>,
  { view, text }: { readonly view: View; readonly text: string },
): Row[] {
  const wanted = text.toLowerCase();
  return Object.entries(entries).map(([name, setting]) => ({ name, ...setting })).filter((row) => {
    const owner = ownerOf(row);
    if (view === "set" && (owner === "default" || owner === "built")) return false;
    if ((view === "file" || view === "store") && owner !== view) return false;
    return `${section}.${row.name} ${JSON.stringify(row.value)}`.toLowerCase().includes(wanted);
  });
}

function Settings({ section, rows }: { readonly section: string; readonly rows: readonly Row[] }) {
  return (
    <DataTable
      label={section}
      rows={rows}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => settingHref(section, name)}
      columns={[
        { title: TEXTS.configuration.setting, cell: ({ name }) => name === "" ? section : name },
        {
          title: TEXTS.configuration.value,
          cell: ({ value }) => <code class="setting-value">{JSON.stringify(value)}</code>,
        },
        { title: TEXTS.configuration.owner, cell: (row) => <OwnerBadge setting={row} /> },
      ]}
    />
  );
}

function NewSetting() {
  const open = (fields: FormData) => {
    const name = String(fields.get("name") ?? "").trim();
    navigate(settingHref(String(fields.get("section")), name));
    return Promise.resolve();
  };
  return (
    <Card title={TEXTS.configuration.newTitle}>
      <p class="hint">{TEXTS.configuration.newHint}</p>
      <ActionForm submit={TEXTS.configuration.open} onSubmit={open}>
        <Field name={TEXTS.configuration.section}>
          <select name="section">
            {STORED_SECTIONS.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </Field>
        <Field name={TEXTS.configuration.name}>
          <input name="name" required maxLength={200} autocomplete="off" />
        </Field>
      </ActionForm>
    </Card>
  );
}

function Reload({ onChanged }: { readonly onChanged: () => void }) {
  const [isDone, setDone] = useState(false);
  const { preview, steps } = useConfirmedChange(() => {
    setDone(true);
    onChanged();
  });
  const tryReload = () => {
    setDone(false);
    void preview({ method: "POST", path: "/admin/v1/config/reload", body: null });
  };
  return (
    <Card title={TEXTS.configuration.reloadTitle}>
      <p class="hint">{TEXTS.configuration.reloadHint}</p>
      {isDone && <p class="notice good" role="status">{TEXTS.configuration.reloaded}</p>}
      <button type="button" onClick={tryReload}>{TEXTS.configuration.reload}</button>
      {steps}
    </Card>
  );
}

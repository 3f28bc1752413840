import { useState } from "preact/hooks";
import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { usePages } from "../../lists/paged.ts";
import { isOwner } from "../../session_state.ts";
import type { ConfigVersion } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { useConfirmedChange } from "./confirmed_change.tsx";
import { Difference } from "./difference.tsx";

const PAGE_SIZE = 50;

/** The versions of the settings in the store. Owners roll back to an earlier one. */
export function ConfigHistory({ version: inForce, onChanged }: {
  /** The version in force; 0 for none. */
  readonly version: number;
  readonly onChanged: () => void;
}) {
  const { rows, error, showMore } = usePages<ConfigVersion>({
    name: "versions",
    version: String(inForce),
    load: (after, signal) => read("/admin/v1/config/versions", { limit: PAGE_SIZE, after }, signal),
  });
  const [chosen, setChosen] = useState<number | null>(null);
  const [applied, setApplied] = useState<number | null>(null);
  const { preview, steps } = useConfirmedChange(({ version }) => {
    setApplied(version);
    setChosen(null);
    onChanged();
  });
  const restore = (version: number) => {
    setChosen(version);
    setApplied(null);
    void preview({ method: "POST", path: `/admin/v1/config/versions/${version}/restore`, body: null });
  };
  return (
    <Card title={TEXTS.configuration.history} isWide>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {applied !== null && <p class="notice good" role="status">{TEXTS.configuration.applied(String(applied))}</p>}
      {chosen !== null && <h3>{TEXTS.configuration.restoring(String(chosen))}</h3>}
      {steps}
      {rows !== null && (rows.length === 0
        ? <EmptyState title={TEXTS.configuration.noVersionsTitle}>{TEXTS.configuration.noVersions}</EmptyState>
        : <Versions versions={rows} inForce={inForce} onRestore={isOwner() ? restore : null} />)}
      <MoreButton onMore={showMore} />
    </Card>
  );
}

function Versions({ versions, inForce, onRestore }: {
  readonly versions: readonly ConfigVersion[];
  readonly inForce: number;
  /** Null if the session may not change the configuration. */
  readonly onRestore: ((version: number) => void) | null;
}) {
  return (
    <DataTable
      label={TEXTS.configuration.historyTable}
      rows={versions}
      keyOf={({ version }) => String(version)}
      columns={[
        { title: TEXTS.configuration.version, cell: ({ version }) => version },
        { title: TEXTS.configuration.at, cell: ({ created_at }) => <Instant at={created_at} /> },
        { title: TEXTS.configuration.by, cell: ({ by }) => by },
        { title: TEXTS.configuration.change, cell: (each) => <Difference difference={each} /> },
        ...onRestore === null ? [] : [{
          title: "",
          cell: ({ version }: ConfigVersion) =>
            version !== inForce && (
              <button
                type="button"
                class="small"
                aria-label={TEXTS.configuration.restoreLabel(String(version))}
                onClick={() => onRestore(version)}
              >
                {TEXTS.configuration.restore}
              </button>
            ),
        }],
      ]}
    />
  );
}

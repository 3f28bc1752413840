import { read } from "../../api.ts";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { dollars, duration } from "../../format.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { usePolled } from "../../polled.ts";
import type { ListAnswer, VideoTask } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { VideoStatus } from "./video_status.tsx";

const STATUSES = ["", "pending", "completed", "failed", "cancelled", "expired"] as const;
const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** The video tasks of all accounts, the newest first. */
export function VideoList() {
  const status = STATUSES.find((each) => each === query.value.get("status")) ?? "";
  const after = query.value.get("after") ?? "";
  const { data, error } = usePolled(
    `${status} ${after}`,
    (signal) => read<ListAnswer<VideoTask>>("/admin/v1/tasks", { status, after, limit: PAGE_SIZE }, signal),
    REFRESH_MS,
  );
  const next = data?.next ?? null;
  return (
    <>
      <PageHead title={TEXTS.videos.title}>
        <Choice
          label={TEXTS.videos.status}
          values={STATUSES}
          titles={TEXTS.videos.statuses}
          value={status}
          onChange={(value) => setQuery({ status: value, after: "" })}
        />
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (data.data.length === 0 ? <NoTasks isFiltered={status !== ""} /> : <Table tasks={data.data} />)}
      {next !== null && (
        <button type="button" class="more" onClick={() => setQuery({ after: next })}>{TEXTS.app.more}</button>
      )}
    </>
  );
}

function NoTasks({ isFiltered }: { readonly isFiltered: boolean }) {
  const { emptyTitle, empty, noneFoundTitle, noneFound } = TEXTS.videos;
  return isFiltered
    ? <EmptyState title={noneFoundTitle}>{noneFound}</EmptyState>
    : <EmptyState title={emptyTitle}>{empty}</EmptyState>;
}

function Table({ tasks }: { readonly tasks: readonly VideoTask[] }) {
  return (
    <DataTable
      label={TEXTS.videos.table}
      rows={tasks}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`videos/${id}`)}
      columns={[
        { title: TEXTS.videos.created, cell: ({ created_at }) => <Instant at={created_at} /> },
        { title: TEXTS.videos.status, cell: ({ status }) => <VideoStatus status={status} /> },
        { title: TEXTS.videos.account, cell: ({ account }) => account },
        { title: TEXTS.videos.model, cell: ({ model }) => model },
        { title: TEXTS.videos.mode, cell: ({ mode }) => mode },
        { title: TEXTS.videos.provider, cell: ({ provider }) => provider ?? "" },
        {
          title: TEXTS.videos.took,
          isNumeric: true,
          cell: ({ created_at, ended_at }) => ended_at === null ? "" : duration((ended_at - created_at) * 1_000),
        },
        { title: TEXTS.videos.cost, isNumeric: true, cell: ({ charge }) => charge === null ? "" : dollars(charge) },
        { title: TEXTS.videos.failure, cell: ({ failure }) => failure === null ? "" : <code>{failure}</code> },
      ]}
    />
  );
}

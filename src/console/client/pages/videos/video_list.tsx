import { read } from "../../api.ts";
import { Choice } from "../../components/choice.tsx";
import { type Column, DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { dollars, duration } from "../../format.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { usePages } from "../../lists/paged.ts";
import type { ListAnswer, OwnVideoTask, VideoTask } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { VideoStatus } from "./video_status.tsx";

const STATUSES = ["", "pending", "completed", "failed", "cancelled", "expired"] as const;
const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** The video tasks of all accounts, the newest first. */
export function VideoList() {
  return <TaskList<VideoTask> path="/admin/v1/tasks" columns={COLUMNS} empty={TEXTS.videos.empty} />;
}

/** The video tasks of the caller's API key, the newest first. */
export function OwnVideoList() {
  return <TaskList<OwnVideoTask> path="/v1/videos" columns={OWN_COLUMNS} empty={TEXTS.videos.emptyOwn} />;
}

interface TaskListProps<T> {
  readonly path: string;
  readonly columns: readonly Column<T>[];
  /** What to do if there is no task. */
  readonly empty: string;
}

function TaskList<T extends { readonly id: string }>({ path, columns, empty }: TaskListProps<T>) {
  const status = STATUSES.find((each) => each === query.value.get("status")) ?? "";
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<T>>(path, { status, after, limit: PAGE_SIZE }, signal);
  const { rows, error, showMore } = usePages<T>({ name: `videos ${status}`, everyMs: REFRESH_MS, load });
  return (
    <>
      <PageHead title={TEXTS.videos.title}>
        <Choice
          label={TEXTS.videos.status}
          values={STATUSES}
          titles={TEXTS.videos.statuses}
          value={status}
          onChange={(value) => setQuery({ status: value })}
        />
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {rows?.length === 0 && <NoTasks empty={status === "" ? empty : null} />}
      {rows !== null && rows.length > 0 && (
        <DataTable
          label={TEXTS.videos.table}
          rows={rows}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => hrefOf(`videos/${id}`)}
          columns={columns}
        />
      )}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="videos" load={load} />}
    </>
  );
}

/** @param empty Null if a filter found none. */
function NoTasks({ empty }: { readonly empty: string | null }) {
  const { emptyTitle, noneFoundTitle, noneFound } = TEXTS.videos;
  return empty === null
    ? <EmptyState title={noneFoundTitle}>{noneFound}</EmptyState>
    : <EmptyState title={emptyTitle}>{empty}</EmptyState>;
}

const COLUMNS: readonly Column<VideoTask>[] = [
  { title: TEXTS.videos.created, cell: ({ created_at }) => <Instant at={created_at} /> },
  { title: TEXTS.videos.status, cell: ({ status }) => <VideoStatus status={status} /> },
  { title: TEXTS.videos.account, cell: ({ account }) => account },
  { title: TEXTS.videos.model, cell: ({ model }) => model },
  { title: TEXTS.videos.mode, leaveOut: 4, cell: ({ mode }) => mode },
  { title: TEXTS.videos.provider, leaveOut: 2, cell: ({ provider }) => provider ?? "" },
  {
    title: TEXTS.videos.took,
    leaveOut: 3,
    isNumeric: true,
    cell: ({ created_at, ended_at }) => ended_at === null ? "" : duration((ended_at - created_at) * 1_000),
  },
  { title: TEXTS.videos.cost, isNumeric: true, cell: ({ charge }) => charge === null ? "" : dollars(charge) },
  { title: TEXTS.videos.failure, cell: ({ failure }) => failure === null ? "" : <code>{failure}</code> },
];

const OWN_COLUMNS: readonly Column<OwnVideoTask>[] = [
  { title: TEXTS.videos.created, cell: ({ created_at }) => <Instant at={created_at} /> },
  { title: TEXTS.videos.status, cell: ({ status }) => <VideoStatus status={status} /> },
  { title: TEXTS.videos.model, cell: ({ model }) => model },
  { title: TEXTS.videos.prompt, leaveOut: 1, cell: ({ prompt }) => shortened(prompt) },
  {
    title: TEXTS.videos.cost,
    isNumeric: true,
    cell: ({ status, usage }) => status === "completed" ? dollars(usage.video_cost) : "",
  },
  { title: TEXTS.videos.failure, cell: ({ error }) => error === undefined ? "" : <code>{error.code}</code> },
];

const MAX_PROMPT_CHARACTERS = 80;

function shortened(prompt: string): string {
  return prompt.length <= MAX_PROMPT_CHARACTERS ? prompt : `${prompt.slice(0, MAX_PROMPT_CHARACTERS)}…`;
}

import type { ComponentChildren } from "preact";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { hrefOf } from "../../navigation.ts";
import type { Polled } from "../../lists/polled.ts";
import { TEXTS } from "../../texts.ts";
import { VideoStatus } from "./video_status.tsx";

/** The page of a task: the way back, its id and status, why it failed, and its cards once it was read. */
export function TaskFrame<T extends { readonly status: string }>({ id, polled, failureOf, children }: {
  readonly id: string;
  readonly polled: Pick<Polled<T>, "data" | "error">;
  /** Null for a task that has not failed. */
  readonly failureOf: (task: T) => string | null;
  readonly children: (task: T) => ComponentChildren;
}) {
  const { data, error } = polled;
  const failure = data === null ? null : failureOf(data);
  return (
    <>
      <p class="back">
        <a href={hrefOf("videos")}>← {TEXTS.videos.back}</a>
      </p>
      <PageHead title={<code class="title-code">{id}</code>}>
        {data !== null && <VideoStatus status={data.status} />}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          {failure !== null && (
            <div class="wide">
              <ErrorNotice message={failure} />
            </div>
          )}
          {children(data)}
        </div>
      )}
    </>
  );
}

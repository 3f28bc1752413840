import { Badge } from "../../../components/badge.tsx";
import { ErrorNotice } from "../../../components/error_notice.tsx";
import { dollars, duration, number } from "../../../format.ts";
import { ownAddress } from "../../../own_address.ts";
import { TEXTS } from "../../../texts.ts";
import { ShownResults } from "../../videos/shown_results.tsx";
import { Facts } from "../facts.tsx";
import { Inspector } from "../inspector.tsx";
import { videoSnippet } from "./video_snippet.ts";
import type { VideoTask } from "./video_request.ts";
import type { VideoRun } from "./video_state.ts";

const texts = TEXTS.playground.videos;

/** A video with its progress, its player and its request. */
export function VideoRunView({ run, onCancel }: { readonly run: VideoRun; readonly onCancel: () => void }) {
  const { body, exchange, task, error } = run;
  return (
    <section class="card run" aria-label={String(body.prompt)} aria-busy={task?.status === "pending"}>
      <h2>{String(body.model)}</h2>
      <p class="run-prompt">{String(body.prompt)}</p>
      {task !== null && <Progress task={task} onCancel={onCancel} />}
      {task?.status === "completed" && <Results results={task.results} />}
      {task !== null && task.error !== null && (
        <ErrorNotice error={{ message: `${task.error.code}: ${task.error.message}`, requestId: exchange.requestId }} />
      )}
      {error !== null && <ErrorNotice error={error} />}
      {exchange.totalMs !== null && (
        <>
          <Facts exchange={exchange} cost={null} times={timesOf(run)} />
          <Inspector exchange={exchange} snippet={(language, baseUrl) => videoSnippet(language, body, baseUrl)} />
        </>
      )}
    </section>
  );
}

function Progress({ task, onCancel }: { readonly task: VideoTask; readonly onCancel: () => void }) {
  const { status, progress, queuePosition, provider, cost, seconds } = task;
  const isPending = status === "pending";
  const tone = status === "completed" ? "good" : isPending ? "plain" : "bad";
  const statuses: Readonly<Record<string, string>> = TEXTS.videos.statuses;
  return (
    <>
      <div class="actions" role="status">
        <Badge tone={tone}>{statuses[status] ?? status}</Badge>
        {provider !== null && <span class="hint">{TEXTS.playground.facts.servedBy(provider)}</span>}
        {queuePosition !== null && isPending && <span class="hint">{texts.queue(number(queuePosition))}</span>}
        <span class="hint">
          {isPending ? texts.estimated(dollars(cost)) : texts.cost(dollars(cost), number(seconds))}
        </span>
      </div>
      {isPending && (
        <>
          <progress aria-label={texts.progress} max={100} value={progress ?? undefined} />
          <div class="actions">
            <button type="button" class="small" onClick={onCancel}>{texts.cancel}</button>
          </div>
        </>
      )}
    </>
  );
}

/** The create, and the video, which takes much longer. */
function timesOf({ exchange: { totalMs }, task }: VideoRun): string[] {
  return [
    ...totalMs === null ? [] : [texts.createdAfter(duration(totalMs))],
    ...task?.tookMs === undefined || task.tookMs === null ? [] : [texts.took(duration(task.tookMs))],
  ];
}

/** Players, pictures and downloads. A result that is only at the vendor is a link. */
function Results({ results }: Pick<VideoTask, "results">) {
  const videos = results.filter(({ type }) => type === "video");
  return (
    <>
      <ShownResults results={results} />
      <div class="actions">
        {videos.map(({ url, index }) => {
          const own = ownAddress(url);
          const name = videos.length === 1 ? "video.mp4" : `video-${index + 1}.mp4`;
          return (
            <a key={index} class="button small" href={own ?? url} download={own === null ? undefined : name}>
              {TEXTS.playground.pictures.download} {videos.length > 1 && index + 1}
            </a>
          );
        })}
      </div>
    </>
  );
}

import { Badge } from "../../../components/badge.tsx";
import { ErrorNotice } from "../../../components/error_notice.tsx";
import { dollars, number } from "../../../format.ts";
import { ownAddress } from "../../../own_address.ts";
import { TEXTS } from "../../../texts.ts";
import { Facts } from "../facts.tsx";
import { Inspector } from "../inspector.tsx";
import { videoSnippet } from "../snippets/video_snippet.ts";
import type { VideoTask } from "./video_request.ts";
import type { VideoRun } from "./video_state.ts";

const texts = TEXTS.playground.videos;

/** A video with its progress, its player and its request. */
export function VideoRunView({ run, onCancel }: { readonly run: VideoRun; readonly onCancel: () => void }) {
  const { body, exchange, task, error } = run;
  return (
    <section class="card run" aria-label={String(body.prompt)} aria-busy={task?.status === "pending"}>
      <h3>{String(body.model)}</h3>
      <p class="run-prompt">{String(body.prompt)}</p>
      {task !== null && <Progress task={task} onCancel={onCancel} />}
      {task?.status === "completed" && <Player task={task} prompt={String(body.prompt)} />}
      {task !== null && task.error !== null && (
        <ErrorNotice error={{ message: `${task.error.code}: ${task.error.message}`, requestId: exchange.requestId }} />
      )}
      {error !== null && <ErrorNotice error={error} />}
      {exchange.totalMs !== null && (
        <>
          <Facts exchange={exchange} cost={null} />
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

/** The copy at the gateway is played; a result that is only at the vendor is a link. */
function Player({ task: { urls }, prompt }: { readonly task: VideoTask; readonly prompt: string }) {
  const [url = ""] = urls;
  const own = URL.canParse(url) ? ownAddress(url) : null;
  if (url === "") return null;
  return (
    <>
      {own !== null && <video class="player" src={own} controls preload="metadata" aria-label={prompt} />}
      <div class="actions">
        <a class="button small" href={own ?? url} download={own === null ? undefined : "video.mp4"}>
          {TEXTS.playground.pictures.download}
        </a>
      </div>
    </>
  );
}

import { change, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Instant } from "../../components/instant.tsx";
import { dollars, number } from "../../format.ts";
import { usePolled } from "../../lists/polled.ts";
import type { OwnVideoTask } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { CancelTask } from "./cancel_task.tsx";
import { Fact } from "./fact.tsx";
import { ownResultsOf } from "./own_results.ts";
import { ShownResults } from "./shown_results.tsx";
import { ownTaskEventsOf } from "./task_events.ts";
import { TaskFrame } from "./task_frame.tsx";
import { TaskTimeline } from "./task_timeline.tsx";

/** A fifth of the default polling limit of a key. Source: docs/api/videos.md#polling-limit. */
const REFRESH_MS = 5_000;

/** One video task of the caller's API key. */
export function OwnVideoDetails({ id }: { readonly id: string }) {
  const address = `/v1/videos/${encodeURIComponent(id)}`;
  const every = { everyMs: REFRESH_MS, isFinal };
  const polled = usePolled(id, (signal) => read<OwnVideoTask>(address, {}, signal), every);
  const cancel = async () => {
    await change("DELETE", address);
    polled.reload();
  };
  const failureOf = ({ error }: OwnVideoTask) => error === undefined ? null : `${error.code}: ${error.message}`;
  return (
    <TaskFrame id={id} polled={polled} failureOf={failureOf}>
      {(task) => (
        <>
          <Card title={TEXTS.videos.timeline}>
            <TaskTimeline events={ownTaskEventsOf(task)} />
            {task.status === "pending" && (
              <>
                <progress aria-label={TEXTS.playground.videos.progress} max={100} value={task.progress} />
                <CancelTask question={TEXTS.videos.confirmCancelOwn} cancel={cancel} />
              </>
            )}
          </Card>
          <Task task={task} />
          {task.status === "completed" && (
            <Card title={TEXTS.videos.results} isWide>
              <ShownResults results={ownResultsOf(task)} />
            </Card>
          )}
        </>
      )}
    </TaskFrame>
  );
}

/** Whether a task changes no more. Copies of the results can follow its end. */
function isFinal({ status, unsigned_urls, mirror_urls }: OwnVideoTask): boolean {
  return status !== "pending" && mirror_urls.length >= unsigned_urls.length;
}

function Task({ task }: { readonly task: OwnVideoTask }) {
  const { prompt, model, provider, seconds, size, queue_position, created_at, completed_at, status, usage } = task;
  return (
    <Card title={TEXTS.videos.task}>
      <dl class="facts">
        <Fact name={TEXTS.videos.prompt}>{prompt}</Fact>
        <Fact name={TEXTS.videos.model}>{model}</Fact>
        <Fact name={TEXTS.videos.provider}>{provider}</Fact>
        <Fact name={TEXTS.videos.seconds}>{seconds}</Fact>
        <Fact name={TEXTS.videos.size}>{size}</Fact>
        <Fact name={TEXTS.videos.queuePosition}>{queue_position === undefined ? null : number(queue_position)}</Fact>
        <Fact name={TEXTS.videos.created}>
          <Instant at={created_at} />
        </Fact>
        <Fact name={TEXTS.videos.ended}>{completed_at === null ? null : <Instant at={completed_at} />}</Fact>
        <Fact name={TEXTS.videos.charge}>{status === "completed" ? dollars(usage.video_cost) : null}</Fact>
        {Object.entries(task.metadata).map(([name, value]) => <Fact key={name} name={name}>{value}</Fact>)}
      </dl>
    </Card>
  );
}

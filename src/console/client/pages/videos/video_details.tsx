import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { Instant } from "../../components/instant.tsx";
import { dollars, number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite, isOwner } from "../../session_state.ts";
import type { VideoTask } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { taskEventsOf } from "./task_events.ts";
import { CancelTask } from "./cancel_task.tsx";
import { Fact } from "./fact.tsx";
import { TaskFrame } from "./task_frame.tsx";
import { TaskTimeline } from "./task_timeline.tsx";
import { VideoResults } from "./video_results.tsx";

const REFRESH_MS = 3_000;

/** One video task: where it is, and what it costs. */
export function VideoDetails({ id }: { readonly id: string }) {
  const address = `/admin/v1/tasks/${encodeURIComponent(id)}`;
  const polled = usePolled(id, (signal) => read<VideoTask>(address, {}, signal), REFRESH_MS);
  const cancel = async () => {
    await change("POST", `${address}/cancel`);
    polled.reload();
  };
  return (
    <TaskFrame id={id} polled={polled} failureOf={({ failure }) => failure}>
      {(task) => (
        <>
          <Card title={TEXTS.videos.timeline}>
            <TaskTimeline events={taskEventsOf(task)} />
            {canWrite() && task.status === "pending" && (
              <CancelTask question={TEXTS.videos.confirmCancel} cancel={cancel} />
            )}
          </Card>
          <Task task={task} />
          <Money task={task} />
          {task.results > 0 && <Results task={task} address={address} />}
        </>
      )}
    </TaskFrame>
  );
}

function Task({ task }: { readonly task: VideoTask }) {
  const instant = (at: number | null) => at === null ? null : <Instant at={at} />;
  return (
    <Card title={TEXTS.videos.task}>
      <dl class="facts">
        <Fact name={TEXTS.videos.account}>
          <a href={hrefOf(`accounts/${encodeURIComponent(task.account)}`)}>{task.account}</a>
        </Fact>
        <Fact name={TEXTS.videos.key}>{task.key}</Fact>
        <Fact name={TEXTS.videos.model}>{task.model}</Fact>
        <Fact name={TEXTS.videos.mode}>{task.mode}</Fact>
        <Fact name={TEXTS.videos.step}>{task.step}</Fact>
        <Fact name={TEXTS.videos.stepSince}>{instant(task.step_since)}</Fact>
        <Fact name={TEXTS.videos.provider}>{task.provider}</Fact>
        <Fact name={TEXTS.videos.vendorModel}>{task.upstream_model}</Fact>
        <Fact name={TEXTS.videos.vendorTask}>{task.upstream_task}</Fact>
        <Fact name={TEXTS.videos.attempts}>{task.attempts === null ? null : number(task.attempts)}</Fact>
        <Fact name={TEXTS.videos.created}>{instant(task.created_at)}</Fact>
        <Fact name={TEXTS.videos.deadline}>{instant(task.deadline_at)}</Fact>
        <Fact name={TEXTS.videos.ended}>{instant(task.ended_at)}</Fact>
        <Fact name={TEXTS.videos.seconds}>{task.video_seconds === null ? null : number(task.video_seconds)}</Fact>
      </dl>
    </Card>
  );
}

function Money({ task: { estimate, hold, charge } }: { readonly task: VideoTask }) {
  const amount = (value: string | null) => value === null ? null : dollars(value);
  return (
    <Card title={TEXTS.videos.money}>
      <dl class="facts">
        <Fact name={TEXTS.videos.estimate}>{amount(estimate)}</Fact>
        <Fact name={TEXTS.videos.hold}>
          {hold === null ? null : TEXTS.videos.holdText(dollars(hold.amount), hold.state)}
        </Fact>
        <Fact name={TEXTS.videos.captured}>{hold === null ? null : dollars(hold.captured)}</Fact>
        <Fact name={TEXTS.videos.charge}>{amount(charge)}</Fact>
      </dl>
    </Card>
  );
}

function Results({ task: { results, copies, is_copying }, address }: {
  readonly task: VideoTask;
  readonly address: string;
}) {
  const [isStarted, setStarted] = useState(false);
  const copy = async () => {
    await change("POST", `${address}/mirror`);
    setStarted(true);
  };
  return (
    <Card title={TEXTS.videos.results}>
      <dl class="facts">
        <Fact name={TEXTS.videos.results}>{number(results)}</Fact>
        <Fact name={TEXTS.videos.copies}>
          {number(copies)} {is_copying && <span class="hint">({TEXTS.videos.copying})</span>}
        </Fact>
      </dl>
      {isOwner() && <VideoResults address={address} />}
      {isStarted && <p class="notice good" role="status">{TEXTS.videos.copyStarted}</p>}
      {canWrite() && <ActionForm submit={TEXTS.videos.copyAgain} onSubmit={copy} />}
    </Card>
  );
}

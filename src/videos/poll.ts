import type { JobHandler } from "../store/jobs.ts";
import type { Job } from "../store/store.ts";
import { EgressError } from "../net/egress_error.ts";
import { checkTargetUrl, type EgressPolicy } from "../net/target.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { VideoProgress, VideoResult } from "../upstreams/video_upstream.ts";
import { endOverdue } from "./expire.ts";
import { nextPollMs } from "./poll_schedule.ts";
import { postponeJob, readTask, type TaskEntry } from "./records.ts";
import { Seats } from "./seats.ts";
import { keptAddresses } from "./task_size.ts";
import type { TaskEnd } from "./task.ts";
import { endTask } from "./terminal.ts";
import type { VideoParts } from "./video_parts.ts";

/** A finished piece of news about a task. */
type Final = Exclude<VideoProgress, { readonly status: "pending" }>;

/** An address of a result, in characters; all must fit into the task's record. */
const LONGEST_RESULT = 4_096;
const MOST_RESULTS = 8;
const MOST_EXTRAS = 2;
/** At one provider at once. */
const MOST_LOOKS = 192;

/**
 * The job that asks a vendor how a task comes along, again and again until it ends. What goes wrong with asking (429, 5xx,
 * no answer, a provider that is not configured any more) never fails a task; only its deadline does.
 */
export function pollHandler(parts: VideoParts): JobHandler {
  const { store, clock } = parts;
  const words = new Set<string>();
  const seats = new Seats(MOST_LOOKS);
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry || entry.value.status !== "pending" || entry.value.stage.step !== "submitted") {
      await store.commit(null, { settle: [job] });
      return;
    }
    const { stage } = entry.value;
    const progress = await seats.with(stage.provider, () => progressOf(parts, entry));
    if (progress === null) {
      return await postponeJob(store, job, seats.comeBackAt(stage.provider, store.now()), job.attempt);
    }
    if (progress.status !== "pending") {
      const ended = await endTask(parts, entry, endOf(parts.egress, progress), job);
      if (ended === null) await settleLate(parts, job, progress.status);
      return;
    }
    noteUnknownWord(parts, words, stage.provider, progress.unknownWord);
    if (entry.value.deadlineAt <= store.now()) return await endOverdue(parts, entry, job);
    const ageMs = Math.max(clock.now() - stage.since, 1);
    const waitMs = nextPollMs(parts.settings.polling, ageMs, progress.retryAfterSeconds, parts.random);
    await postponeJob(store, job, Math.min(store.now() + waitMs, entry.value.deadlineAt), 0);
  };
}

/** How a final word of a vendor ends a task. A completion without a result that can be fetched is a failure. */
export function endOf(egress: EgressPolicy, progress: Final): TaskEnd {
  if (progress.status === "failed") {
    return { status: "failed", error: { code: progress.code, message: progress.message } };
  }
  if (progress.status !== "completed") return { status: progress.status };
  const fetchable = progress.results.filter((result) => isFetchable(result, egress)).slice(0, MOST_RESULTS);
  const results = keptAddresses(fetchable);
  if (results.length === 0) {
    const message = "The provider reported success without a result that can be fetched";
    return { status: "failed", error: { code: "upstream_error", message } };
  }
  const extras = (progress.extras ?? []).filter(({ url }) => isFetchable({ url, needsCredential: false }, egress))
    .slice(0, MOST_EXTRAS);
  const kept = keptAddresses([...results, ...extras]).length - results.length;
  return { status: "completed", results, extras: extras.slice(0, Math.max(kept, 0)), ...progress.consumption };
}

/** The vendor's word; while it cannot be had, the task is pending. */
async function progressOf({ upstreams, log }: VideoParts, { value: task }: TaskEntry): Promise<VideoProgress> {
  if (task.stage.step !== "submitted") return PENDING;
  const { provider, job } = task.stage;
  const upstream = upstreams.get(provider);
  if (!upstream) {
    log.warn("video_provider_missing", { ref: task.id, provider });
    return PENDING;
  }
  try {
    return await upstream.poll(job);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    log.warn("video_poll_failed", {
      ref: task.id,
      provider,
      code: error.kind,
      status: error.facts.status ?? undefined,
    });
    return { status: "pending", isRunning: null, retryAfterSeconds: error.facts.retryAfterSeconds };
  }
}

const PENDING: VideoProgress = { status: "pending", isRunning: null };

/** The first terminal state stands; a vendor's other word is for the log. */
async function settleLate({ store, log }: VideoParts, job: Job, said: string): Promise<void> {
  const entry = await readTask(store, job.ref);
  const state = entry?.value.status;
  if (state === "pending") return; // changed or claimed by another, who goes on with it; else the job comes back
  if (state !== said) log.warn("video_contradiction", { ref: job.ref, state, reason: `the provider said ${said}` });
  await store.commit(null, { settle: [job] });
}

function noteUnknownWord({ log }: VideoParts, words: Set<string>, provider: string, word: string | undefined): void {
  if (word === undefined || words.size >= 1_000 || words.has(`${provider} ${word}`)) return;
  words.add(`${provider} ${word}`);
  log.warn("video_status_unknown", { provider, state: word.slice(0, 64) });
}

function isFetchable({ url, needsCredential }: VideoResult, egress: EgressPolicy): boolean {
  if (url === null) return true; // its bytes come from the provider's own host
  if (url.length > LONGEST_RESULT) return false;
  if (needsCredential) return URL.canParse(url);
  try {
    checkTargetUrl(url, ["https:", "http:"], egress);
    return true;
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return error.details.rule === "length"; // pre-signed addresses are long, and only a download asks the rule
  }
}

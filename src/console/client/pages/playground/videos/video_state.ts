import { signal } from "@preact/signals";
import type { ApiError } from "../../../api.ts";
import type { Media } from "../conversation.ts";
import { addEvent, callJson, type Exchange, newExchange } from "../exchange.ts";
import { type JsonObject, numberIn, objectIn, objectsIn, textIn } from "../../../json.ts";
import { fileIn } from "../opened_chat.ts";
import { callerFields } from "../payer.ts";
import { readTask, type VideoOrder, type VideoTask, writeVideoBody } from "./video_request.ts";

/** A video, from its create to its end. */
export interface VideoRun {
  readonly number: number;
  readonly body: JsonObject;
  /** Of the create. Later answers are added to its events. */
  readonly exchange: Exchange;
  /** When the create was sent, by `performance.now()`. */
  readonly sentMs: number;
  /** Null until it is created. */
  readonly task: VideoTask | null;
  /** Why the create, a poll or a cancellation failed. */
  readonly error: ApiError | null;
  /** Who pays; later calls are made as the same account. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The estimate of a dry run. */
export interface VideoEstimate {
  /** US dollars. */
  readonly cost: number;
  readonly dropped: readonly string[];
}

const POLL_MS = 2_000;
/** After a failed poll, such as one above the polling limit. */
const RETRY_MS = 6_000;
/** After the end of a task, while its results are copied. */
const MAX_COPY_POLLS = 30;
const MAX_RUNS = 20;

/** The videos of the playground. Those that are under way are polled also while another page is shown. */
export class VideoState {
  readonly model = signal("");
  readonly prompt = signal("");
  readonly duration = signal("");
  readonly resolution = signal("");
  readonly aspectRatio = signal("");
  readonly audio = signal("");
  readonly seed = signal("");
  readonly firstFrame = signal<readonly Media[]>([]);
  readonly lastFrame = signal<readonly Media[]>([]);
  readonly references = signal<readonly Media[]>([]);
  readonly estimate = signal<VideoEstimate | null>(null);
  readonly estimateError = signal<ApiError | null>(null);
  /** The newest first. */
  readonly runs = signal<readonly VideoRun[]>([]);
  #count = 0;

  /** Shows a create of the log. Files at an address are not taken over. */
  open(model: string, body: JsonObject): void {
    const filesOf = (entries: readonly JsonObject[]) =>
      entries.map((entry) => fileIn(textIn(objectIn(entry[textIn(entry.type)]).url)))
        .filter((file) => file.kind === "media");
    const frames = objectsIn(body.frame_images);
    const framesOf = (type: string) => filesOf(frames.filter(({ frame_type: own }) => own === type));
    this.model.value = model;
    this.prompt.value = textIn(body.prompt);
    this.duration.value = String(body.duration ?? body.seconds ?? "");
    this.resolution.value = textIn(body.resolution);
    this.aspectRatio.value = textIn(body.aspect_ratio);
    this.audio.value = String(body.generate_audio ?? "");
    this.seed.value = String(body.seed ?? "");
    this.firstFrame.value = framesOf("first_frame");
    this.lastFrame.value = framesOf("last_frame");
    this.references.value = filesOf(objectsIn(body.input_references));
  }

  /** What is chosen now. */
  order(): VideoOrder {
    const { model, prompt, duration, resolution, aspectRatio, audio, seed } = this;
    return {
      model: model.value,
      prompt: prompt.value.trim(),
      duration: duration.value.trim(),
      resolution: resolution.value,
      aspectRatio: aspectRatio.value,
      audio: audio.value,
      seed: seed.value.trim(),
      firstFrame: this.firstFrame.value[0] ?? null,
      lastFrame: this.lastFrame.value[0] ?? null,
      references: this.references.value,
    };
  }

  /** Requests what the video would cost. */
  async ask(): Promise<void> {
    this.estimate.value = this.estimateError.value = null;
    const fields = { ...callerFields(), "x-service-dry-run": "true" };
    try {
      const body = JSON.stringify(writeVideoBody(this.order()));
      const answer = objectIn(await callJson({ method: "POST", path: "/v1/videos", body, fields }, newExchange()));
      const dropped = Array.isArray(answer.dropped) ? answer.dropped.map(String) : [];
      this.estimate.value = { cost: numberIn(objectIn(answer.estimate).cost), dropped };
    } catch (error) {
      this.estimateError.value = error as ApiError;
    }
  }

  /** Creates a video, and polls it. Resolves at its end. */
  async create(): Promise<void> {
    const body = writeVideoBody(this.order());
    const fields = callerFields();
    const number = this.#count++;
    const sentMs = performance.now();
    const run: VideoRun = { number, body, exchange: newExchange(), sentMs, task: null, error: null, fields };
    this.runs.value = [run, ...this.runs.value.slice(0, MAX_RUNS - 1)];
    try {
      const call = { method: "POST", path: "/v1/videos", body: JSON.stringify(body), fields } as const;
      this.#change(number, { task: readTask(await callJson(call, run.exchange)) });
    } catch (error) {
      this.#change(number, { error: error as ApiError });
      return;
    }
    await this.#poll(number);
  }

  /** Cancels a video that is under way. */
  async cancel(run: VideoRun): Promise<void> {
    if (run.task === null) return;
    try {
      this.#change(run.number, { task: await callTask("DELETE", run.task.id, run), error: null });
    } catch (error) {
      this.#change(run.number, { error: error as ApiError });
    }
  }

  async #poll(number: number): Promise<void> {
    let waitMs = POLL_MS;
    let copyPolls = 0;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const run = this.runs.value.find((each) => each.number === number);
      if (run === undefined || run.task === null || isFinal(run.task)) return;
      if (run.task.status === "completed" && copyPolls++ === MAX_COPY_POLLS) return;
      try {
        this.#change(number, { task: await callTask("GET", run.task.id, run), error: null });
        waitMs = POLL_MS;
      } catch (error) {
        const { status } = error as ApiError;
        this.#change(number, { error: error as ApiError });
        if (status === 401 || status === 403 || status === 404) return;
        waitMs = RETRY_MS;
      }
    }
  }

  #change(number: number, changes: Partial<VideoRun>): void {
    this.runs.value = this.runs.value.map((run) => run.number === number ? { ...run, ...changes } : run);
  }
}

/** Whether a task changes no more. Copies of the results can follow its end. */
function isFinal({ status, isCopied }: VideoTask): boolean {
  return status !== "pending" && (status !== "completed" || isCopied);
}

/** Reads or cancels a task, and adds the answer to the events of its run, if it differs from the one before. */
async function callTask(
  method: "GET" | "DELETE",
  id: string,
  { exchange, sentMs, fields }: VideoRun,
): Promise<VideoTask> {
  const call = newExchange();
  const task = readTask(await callJson({ method, path: `/v1/videos/${id}`, body: null, fields }, call));
  for (const { data } of call.events) {
    if (data === exchange.events.at(-1)?.data) continue;
    addEvent(exchange, { atMs: performance.now() - sentMs, name: method, data });
  }
  return task;
}

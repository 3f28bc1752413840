import { signal } from "@preact/signals";
import type { ApiError } from "../../../api.ts";
import type { Media } from "../conversation.ts";
import { callJson, type Exchange, newExchange } from "../exchange.ts";
import { type JsonObject, numberIn, textIn } from "../../../json.ts";
import { fileIn } from "../opened_chat.ts";
import {
  bodyOf,
  type ImageAnswer,
  type ImageDraft,
  imagesInReply,
  type ImageUse,
  writeImageRequest,
  type WrittenImageRequest,
} from "./picture_request.ts";

/** A request for pictures, and what came of it. */
export interface ImageRun {
  readonly id: number;
  readonly request: WrittenImageRequest;
  readonly prompt: string;
  readonly exchange: Exchange;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly answer: ImageAnswer | null;
  readonly error: ApiError | null;
}

/** The runs that are kept, because pictures are large. */
const MAX_RUNS = 10;

/** The pictures of the playground. */
export class ImageState {
  readonly model = signal("");
  readonly prompt = signal("");
  readonly quality = signal("low");
  readonly size = signal("");
  readonly count = signal("1");
  readonly background = signal("");
  readonly format = signal("");
  readonly use = signal<ImageUse>("edit");
  readonly pictures = signal<readonly Media[]>([]);
  readonly mask = signal<Media | null>(null);
  /** Whether the pictures of an opened edit are still to be chosen. */
  readonly lacksPictures = signal(false);
  /** The newest first. */
  readonly runs = signal<readonly ImageRun[]>([]);
  #running: AbortController | null = null;
  #nextId = 0;

  /** Whether a request is under way. */
  get isRunning(): boolean {
    return this.runs.value[0]?.state === "running";
  }

  /** Replaces the chosen pictures. A mask belongs to the first one. */
  choose(pictures: readonly Media[], use: ImageUse = this.use.value): void {
    if (pictures[0] !== this.pictures.value[0]) this.mask.value = null;
    this.pictures.value = pictures;
    this.use.value = use;
    this.lacksPictures.value = false;
  }

  /** Shows a generation of the log. */
  open(model: string, body: JsonObject): void {
    this.model.value = model;
    this.prompt.value = textIn(body.prompt);
    this.quality.value = textIn(body.quality) || this.quality.value;
    this.size.value = textIn(body.size);
    this.count.value = String(numberIn(body.n) || 1);
    this.background.value = textIn(body.background);
    this.format.value = textIn(body.output_format);
    this.choose(picturesIn(body.input_images), "reference");
  }

  /** Shows an edit of the log, whose captured form has no pictures. */
  openEdit(model: string, body: JsonObject): void {
    this.open(model, { ...body, n: Number(body.n) });
    this.choose([], "edit");
    this.lacksPictures.value = true;
  }

  /** What is chosen now. */
  order(): ImageDraft {
    const { model, prompt, quality, size, count, background, format, use, pictures, mask } = this;
    return {
      model: model.value,
      prompt: prompt.value.trim(),
      quality: quality.value,
      size: size.value,
      count: Number(count.value) || 1,
      background: background.value,
      format: format.value,
      use: use.value,
      pictures: pictures.value,
      mask: mask.value,
    };
  }

  /** Requests pictures. Resolves at the end. */
  async run(): Promise<void> {
    if (this.isRunning) return;
    const order = this.order();
    const request = writeImageRequest(order);
    const running = this.#running = new AbortController();
    let run: ImageRun = {
      id: this.#nextId++,
      request,
      prompt: order.prompt,
      exchange: newExchange(),
      state: "running",
      answer: null,
      error: null,
    };
    const before = this.runs.value.slice(0, MAX_RUNS - 1);
    const show = (changes: Partial<ImageRun>) => this.runs.value = [run = { ...run, ...changes }, ...before];
    show({});
    try {
      const call = { method: "POST", path: request.path, body: bodyOf(request), signal: running.signal } as const;
      const body = await callJson(call, run.exchange);
      show({ state: "done", answer: imagesInReply(body) });
    } catch (error) {
      if (running.signal.aborted) show({ state: "stopped" });
      else show({ state: "failed", error: error as ApiError });
    }
  }

  /** Ends the request that is under way. */
  stop(): void {
    this.#running?.abort();
  }
}

function picturesIn(urls: unknown): Media[] {
  const files = Array.isArray(urls) ? urls.map((url) => fileIn(textIn(url))) : [];
  return files.filter((file) => file.kind === "media");
}

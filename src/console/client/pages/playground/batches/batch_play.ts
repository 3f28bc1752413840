import { signal } from "@preact/signals";
import { apiAddress, type ApiError, send, sendForResponse, shownFailure } from "../../../api.ts";
import { hasBatchEnded } from "../../batches/shown_batch.ts";
import type { OwnBatch } from "../../../shapes.ts";
import type { Media } from "../conversation.ts";
import { callerFields } from "../payer.ts";
import { type BatchQuote, type LineAnswer, readAnswers, readQuote } from "./batch_answers.ts";
import { type BatchDraft, type BatchPrompt, linesOfOrder, type OrderedLine, writeBatchOrder } from "./batch_order.ts";

/** A batch of the playground, from its create to its end. */
export interface PlayedBatch {
  readonly number: number;
  readonly lines: readonly OrderedLine[];
  /** Null until it is created. */
  readonly batch: OwnBatch | null;
  /** By the line's `custom_id`; null until they are read. */
  readonly answers: ReadonlyMap<string, LineAnswer> | null;
  /** Why the create, a poll or a cancellation failed. */
  readonly error: ApiError | null;
  /** Who pays; later calls are made as the same account. */
  readonly fields: Readonly<Record<string, string>>;
}

const BATCHES = "/v1/batches";
const OWN = "/v1/key/batches";
const POLL_MS = 1_000;
/** After a failed poll, such as one above the limit of reads. */
const RETRY_MS = 6_000;
const MAX_RUNS = 20;

/** The batches of the playground. Those that are under way are polled also while another page is shown. */
export class BatchPlay {
  readonly prompts = signal<readonly BatchPrompt[]>([{ id: 0, text: "", files: [] }]);
  /** Empty until one is chosen. */
  readonly models = signal<readonly string[]>([]);
  /** The estimate of what is written; null until it is requested, and after each change. */
  readonly quote = signal<BatchQuote | null>(null);
  readonly quoteError = signal<ApiError | null>(null);
  /** The newest first. */
  readonly runs = signal<readonly PlayedBatch[]>([]);
  #nextPrompt = 1;
  #count = 0;

  /** Takes over what is written in the chat, after the prompts that are there. */
  take({ text, files, models }: Pick<BatchPrompt, "text" | "files"> & { readonly models: readonly string[] }): void {
    const written = this.prompts.value.filter((prompt) => prompt.text.trim() !== "" || prompt.files.length > 0);
    this.prompts.value = [...written, { id: this.#nextPrompt++, text, files }];
    this.models.value = models;
    this.forget();
  }

  /** Adds an empty prompt. */
  addPrompt(): void {
    this.prompts.value = [...this.prompts.value, { id: this.#nextPrompt++, text: "", files: [] }];
  }

  /** Changes a prompt. */
  changePrompt(id: number, changes: { readonly text?: string; readonly files?: readonly Media[] }): void {
    this.prompts.value = this.prompts.value.map((prompt) => prompt.id === id ? { ...prompt, ...changes } : prompt);
    this.forget();
  }

  /** Removes a prompt. */
  removePrompt(id: number): void {
    this.prompts.value = this.prompts.value.filter((prompt) => prompt.id !== id);
    this.forget();
  }

  /** Changes the models. */
  chooseModels(models: readonly string[]): void {
    this.models.value = models;
    this.forget();
  }

  /** Drops the estimate, because what was written has changed. */
  forget(): void {
    this.quote.value = null;
    this.quoteError.value = null;
  }

  /** Asks what the batch would cost and who would run it, by a dry run. */
  async ask(order: BatchDraft): Promise<void> {
    this.forget();
    const fields = { ...callerFields(), "x-service-dry-run": "true" };
    const body = JSON.stringify(writeBatchOrder(linesOfOrder(order)));
    try {
      this.quote.value = readQuote(await call({ method: "POST", path: BATCHES, body, fields }));
    } catch (error) {
      this.quoteError.value = shownFailure(error);
    }
  }

  /** Creates the batch, and follows it. Resolves at its end. */
  async create(order: BatchDraft): Promise<void> {
    const number = this.#count++;
    const [lines, fields] = [linesOfOrder(order), callerFields()];
    const run: PlayedBatch = { number, lines, batch: null, answers: null, error: null, fields };
    this.runs.value = [run, ...this.runs.value.slice(0, MAX_RUNS - 1)];
    this.forget();
    try {
      const body = JSON.stringify(writeBatchOrder(lines));
      const { id } = await call<Pick<OwnBatch, "id">>({ method: "POST", path: BATCHES, body, fields });
      this.#change(number, { batch: await readOwn(id, fields) });
    } catch (error) {
      this.#change(number, { error: shownFailure(error) });
      return;
    }
    await this.#follow(number);
  }

  /** Cancels a batch that is under way. */
  async cancel({ number, batch, fields }: PlayedBatch): Promise<void> {
    if (batch === null) return;
    try {
      const path = `${OWN}/${batch.id}/cancel`;
      this.#change(number, { batch: await call<OwnBatch>({ method: "POST", path, body: null, fields }), error: null });
    } catch (error) {
      this.#change(number, { error: shownFailure(error) });
    }
  }

  async #follow(number: number): Promise<void> {
    let waitMs = POLL_MS;
    for (;;) {
      const run = this.runs.value.find((each) => each.number === number);
      if (run === undefined || run.batch === null) return;
      const { batch, fields } = run;
      try {
        if (hasBatchEnded(batch)) {
          this.#change(number, { answers: await readFiles(batch, fields), error: null });
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        this.#change(number, { batch: await readOwn(batch.id, fields), error: null });
        waitMs = POLL_MS;
      } catch (error) {
        const { status } = shownFailure(error);
        this.#change(number, { error: shownFailure(error) });
        if (status === 401 || status === 403 || status === 404) return;
        waitMs = RETRY_MS;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #change(number: number, changes: Partial<PlayedBatch>): void {
    this.runs.value = this.runs.value.map((run) => run.number === number ? { ...run, ...changes } : run);
  }
}

async function readOwn(id: string, fields: PlayedBatch["fields"]): Promise<OwnBatch> {
  return await call<OwnBatch>({ method: "GET", path: `${OWN}/${id}`, body: null, fields });
}

/** A request as who pays for the batch. */
interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** JSON; null for none. */
  readonly body: string | null;
  readonly fields: PlayedBatch["fields"];
}

async function call<T>({ method, path, body, fields }: Call): Promise<T> {
  const type = body === null ? {} : { "content-type": "application/json" };
  return await send<T>(apiAddress(path), { method, headers: { ...fields, ...type }, body });
}

/** The replies and the failed lines. */
async function readFiles(
  { output_file_id: output, error_file_id: failed }: OwnBatch,
  fields: PlayedBatch["fields"],
): Promise<ReadonlyMap<string, LineAnswer>> {
  const texts = await Promise.all([output, failed].map(async (id) => {
    if (id === null) return "";
    return await (await sendForResponse(apiAddress(`/v1/files/${id}/content`), { headers: fields })).text();
  }));
  return new Map(texts.flatMap((text) => [...readAnswers(text)]));
}

import { createHash } from "node:crypto";
import type { Model } from "../catalog/model.ts";
import type { ModelPattern } from "../catalog/model_pattern.ts";
import type { PriceBook } from "../catalog/sourced_model.ts";
import type { FileStore } from "../../platform/files/files.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";
import type { ListedModel } from "../upstreams/contract/model_listing.ts";
import type { Provider } from "../upstreams/contract/provider.ts";
import { Late } from "../../platform/lib/process/late.ts";

const discoveredModelsModule = new Late(() => import("./discovered_models.ts"));

/** A provider whose models are discovered. */
export interface ListedProvider {
  readonly provider: Pick<Provider, "name" | "listModels">;
  /** The provider's base address. A stored list of another address is not used. */
  readonly baseUrl: string;
  /** As in `discoveredModels`. */
  readonly family: string | null;
  readonly patterns: readonly ModelPattern[];
}

/** Options of {@linkcode createModelLists}. */
export interface ModelListOptions {
  readonly providers: readonly ListedProvider[];
  /** Stores the lists for the next start. */
  readonly files: FileStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The prices of the price source at the start. Default: none. */
  readonly book?: PriceBook;
  /** Called with the models of all providers whenever they change. */
  readonly onChange: (models: readonly Model[]) => void;
}

/**
 * The models of providers whose vendors list them. Lists are read in the background at the shortest `refresh` of their
 * patterns, with 10 % jitter. If a list cannot be read, the last one stays in use, also after a restart. Reading is
 * retried after 10 s, 20 s and so on up to the refresh interval.
 */
export interface ModelLists {
  /** Loads the stored lists. No request is sent. */
  open(): Promise<void>;
  /** Uses other prices of the price source, and returns the models of all providers with them. */
  setPrices(book: PriceBook): Promise<readonly Model[]>;
  /** Starts reading the lists. */
  start(): void;
  /** Stops reading. */
  close(): Promise<void>;
}

const READ_MS = 120_000;
const MIN_RETRY_MS = 10_000;
const FILE_CAP_BYTES = 8_388_608;

/** Creates the lists. Nothing is read before `open` and `start`. */
export function createModelLists(options: ModelListOptions): ModelLists {
  const changed = () => options.onChange(lists.flatMap(({ models }) => models));
  const lists = options.providers.map((provider) => new ModelList(provider, options, changed));
  return {
    async open() {
      const opened = await Promise.all(lists.map((list) => list.open()));
      if (opened.includes(true)) changed();
    },
    async setPrices(book) {
      await Promise.all(lists.map((list) => list.setPrices(book)));
      return lists.flatMap(({ models }) => models);
    },
    start: () => lists.forEach((list) => list.start()),
    close: async () => void await Promise.all(lists.map((list) => list.close())),
  };
}

/** The list of one provider. */
class ModelList {
  models: readonly Model[] = [];
  readonly #fileName: string;
  /** The models' source as JSON. */
  #text = "";
  #listed: readonly ListedModel[] = [];
  #book: PriceBook;
  #retryMs = MIN_RETRY_MS;
  #reading: Promise<void> | null = null;
  #abort = new AbortController();
  #stopTimer: () => void = () => {};

  constructor(
    readonly listed: ListedProvider,
    readonly options: ModelListOptions,
    readonly onChange: () => void,
  ) {
    const { provider: { name }, baseUrl } = listed;
    this.#book = options.book ?? {};
    this.#fileName = `${createHash("sha256").update(`${name} ${baseUrl}`).digest("hex").slice(0, 40)}.json`;
  }

  async open(): Promise<boolean> {
    try {
      const file = await this.options.files.find(this.#fileName);
      if (file === null || file.bytes > FILE_CAP_BYTES) return false;
      const text = await new Response(file.read()).text();
      await this.#take(JSON.parse(text), text);
      return true;
    } catch (error) {
      // The list is read again in any case.
      this.#log("model_list_unreadable", error);
      return false;
    }
  }

  async setPrices(book: PriceBook): Promise<void> {
    this.#book = book;
    if (this.#text !== "") await this.#take(this.#listed, this.#text);
  }

  start(): void {
    if (this.#abort.signal.aborted) return;
    this.#reading = this.#read().then((delayMs) => {
      this.#reading = null;
      if (!this.#abort.signal.aborted) this.#stopTimer = this.options.clock.after(delayMs, () => this.start());
    });
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#stopTimer();
    await this.#reading;
  }

  /** Reads the list and returns the delay until the next reading. */
  async #read(): Promise<number> {
    const refreshMs = Math.min(...this.listed.patterns.map((pattern) => pattern.refreshMs));
    const jitter = 0.9 + 0.2 * this.options.random();
    const late = new AbortController();
    const stopLate = this.options.clock.after(READ_MS, () => late.abort());
    try {
      const listed = await this.listed.provider.listModels!(AbortSignal.any([this.#abort.signal, late.signal]));
      const text = JSON.stringify(listed);
      if (text !== this.#text) {
        await this.#take(listed, text);
        this.onChange();
        await this.#keep(text);
      }
      this.#retryMs = MIN_RETRY_MS;
      return refreshMs * jitter;
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#log("model_list_failed", error);
      const delayMs = Math.min(this.#retryMs, refreshMs) * jitter;
      this.#retryMs *= 2;
      return delayMs;
    } finally {
      stopLate();
    }
  }

  async #take(listed: readonly ListedModel[], text: string): Promise<void> {
    const { patterns, family, provider: { name } } = this.listed;
    // Loaded with the first list, since it needs the built-in models and the schemas of a model.
    const { discoveredModels } = await discoveredModelsModule.load();
    const { models, unpriced, unusable } = await discoveredModels(patterns, listed, family, this.#book);
    this.models = models;
    this.#listed = listed;
    this.#text = text;
    const reason = `${unpriced} without a price, ${unusable} with a name that cannot be an id`;
    this.options.log.info("model_list_read", { provider: name, count: models.length, reason });
  }

  /** If storing fails, the list is read again after a restart. */
  async #keep(text: string): Promise<void> {
    try {
      await this.options.files.write(this.#fileName, piecesOf(text), { capBytes: FILE_CAP_BYTES });
    } catch (error) {
      this.#log("model_list_unkept", error);
    }
  }

  #log(event: string, error: unknown): void {
    const failed = error instanceof UpstreamFailure;
    const reason = failed ? error.message : errorName(error);
    const code = failed ? error.kind : undefined;
    this.options.log.warn(event, { provider: this.listed.provider.name, code, reason });
  }
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

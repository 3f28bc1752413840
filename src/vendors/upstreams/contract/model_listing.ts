import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { isDate } from "../../../platform/lib/text/iso_date.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Outbound } from "../call/outbound_call.ts";

/** A model in a vendor's list. Values that are absent or of another type are null. */
export interface ListedModel {
  /** The vendor's name of the model, up to {@linkcode MAX_ID_LENGTH} arbitrary characters. */
  readonly id: string;
  /** The display name. */
  readonly name: string | null;
  /** A single line of up to 1,000 characters. */
  readonly description: string | null;
  /** Unix seconds. */
  readonly created: number | null;
  /** In tokens. */
  readonly contextLength: number | null;
  /** In tokens. */
  readonly maxOutputTokens: number | null;
  /** The input modalities, in the vendor's terms. */
  readonly inputModalities: readonly string[] | null;
  /** What the list says about what the model takes. Absent: nothing. */
  readonly facts?: Partial<ModelFacts>;
  /** The date from which the vendor may refuse the model: `2027-01-14`. */
  readonly expirationDate: string | null;
}

/** One page of a vendor's list. */
export interface ListedPage {
  /** In the vendor's order. */
  readonly models: readonly ListedModel[];
  /** The path of the next page; null for the last page. */
  readonly next: string | null;
}

/** The model list of a vendor kind. */
export interface ModelListing {
  /** The path of the first page, below the provider's base URL. */
  readonly path: string;
  /**
   * Reads one page. Models without text output are left out.
   *
   * @throws {TypeError} If the page is not a list.
   */
  readPage(response: unknown): ListedPage;
}

/** The maximum number of models per provider. Further models are left out. */
export const MAX_LISTED_MODELS = 2_000;
const MAX_ID_LENGTH = 192;
const MAX_PAGES = 50;
const MAX_PAGE_BYTES = 4_194_304;
/** A dozen for each of the models that fit. */
const MAX_PAGE_VALUES = 350_000;
const PAGE_TIMEOUT_MS = 30_000;
const MAX_TOKENS = 1_000_000_000;
/** The last second of the year 9999. */
const MAX_SECONDS = 253_402_300_799;

/**
 * Returns the models that a vendor lists. Of models with the same name the first counts. Reading stops after
 * {@linkcode MAX_LISTED_MODELS} models or 50 pages.
 *
 * @param signal Cancels the request.
 * @throws {UpstreamFailure}
 */
export async function listModels(
  outbound: Outbound,
  listing: ModelListing,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const models = new Map<string, ListedModel>();
  let path: string | null = listing.path;
  for (let pages = 0; path !== null && pages < MAX_PAGES && models.size < MAX_LISTED_MODELS; pages++) {
    const page: ListedPage = await outbound.json("GET", path, null, (response) => listing.readPage(response), {
      callerSignal: () => signal,
      capBytes: MAX_PAGE_BYTES,
      maxValues: MAX_PAGE_VALUES,
      firstByteMs: Math.min(PAGE_TIMEOUT_MS, outbound.firstByteMs),
    });
    const before = models.size;
    for (const model of page.models) {
      if (models.size < MAX_LISTED_MODELS && !models.has(model.id)) models.set(model.id, model);
    }
    // A page without a new model repeats an earlier page.
    path = models.size > before ? page.next : null;
  }
  return [...models.values()];
}

/**
 * The list of OpenAI and compatible vendors. Some return the array without an object around it. Source: OpenAI API
 * reference, "List models".
 *
 * @param path Below the provider's base URL.
 */
export function openaiListingAt(path: string): ModelListing {
  return {
    path,
    readPage(response) {
      const { data, has_more: hasMore, last_id: last } = Array.isArray(response)
        ? { data: response }
        : objectOf(response);
      const models = listOf(data).filter(hasTextOutput).map((model) => {
        const top = objectOf(model.top_provider);
        return listed(model.id, {
          name: model.name ?? model.display_name,
          description: model.description,
          created: model.created,
          contextLength: model.context_length ?? model.context_window ?? model.max_model_len ?? top.context_length,
          maxOutputTokens: top.max_completion_tokens ?? model.max_completion_tokens,
          inputModalities: objectOf(model.architecture).input_modalities,
          // OpenAI, Mistral ("List models": `deprecation`) and OpenRouter.
          expirationDate: model.shutdown_date ?? model.deprecation ?? model.expiration_date,
        });
      });
      const next = hasMore === true && typeof last === "string"
        ? `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(last)}`
        : null;
      return { models: models.filter((model) => model !== null), next };
    },
  };
}

/** The list of OpenAI and of most compatible vendors. */
export const openaiListing: ModelListing = openaiListingAt("/models");

function hasTextOutput(model: JsonObject): boolean {
  const { output_modalities: modalities } = objectOf(model.architecture);
  return !Array.isArray(modalities) || modalities.includes("text");
}

/** Reads the fields of a model in a list; null for one without an id that can be used. */
export function listed(id: unknown, fields: Partial<Record<keyof ListedModel, unknown>>): ListedModel | null {
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_LENGTH) return null;
  const { inputModalities: modalities } = fields;
  return {
    id,
    name: textOf(fields.name, 200),
    description: textOf(fields.description, 1_000),
    created: positiveIntegerOf(fields.created, MAX_SECONDS),
    contextLength: positiveIntegerOf(fields.contextLength, MAX_TOKENS),
    maxOutputTokens: positiveIntegerOf(fields.maxOutputTokens, MAX_TOKENS),
    inputModalities: Array.isArray(modalities)
      ? modalities.slice(0, 16).filter((each) => typeof each === "string")
      : null,
    expirationDate: dateOf(fields.expirationDate),
  };
}

/** Converts a vendor's text to one line of limited length. */
function textOf(value: unknown, max: number): string | null {
  if (typeof value !== "string") return null;
  // Truncated first, because a vendor may send megabytes of whitespace.
  const text = value.slice(0, max).replace(/[\p{Cc}\s]+/gu, " ").trim();
  return text === "" ? null : text;
}

/** Vendors state a date, a time or Unix seconds. */
function dateOf(value: unknown): string | null {
  const seconds = positiveIntegerOf(value, MAX_SECONDS);
  const date = seconds === null ? typeof value === "string" ? value.slice(0, 10) : "" : isoDate(seconds);
  return isDate(date) ? date : null;
}

function isoDate(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

function positiveIntegerOf(value: unknown, max: number): number | null {
  return typeof value === "number" && value > 0 && value <= max ? Math.floor(value) : null;
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {};
}

/** The objects of a list. Throws a `TypeError` if it is none. */
export function listOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new TypeError("Cannot read the model list: expected an array");
  return value.slice(0, MAX_LISTED_MODELS).map(objectOf);
}

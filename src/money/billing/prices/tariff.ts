import { exactCostOf, type Money, type Rate, readRate, roundedMoney } from "../../../platform/lib/basics/money.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** What a charge is for. `cache` is the creation of a cached content. */
export type ChargeKind =
  | "text"
  | "image"
  | "video"
  | "cache"
  | "embedding"
  | "moderation"
  | "rerank"
  | "speech"
  | "transcription";

/**
 * Every price key with the kinds of charges that count it. The compiler rejects a key without a kind, and a kind
 * without a counter for one of its keys: see {@linkcode QuantitiesBy}.
 */
export const CHARGED_BY = {
  /** One prompt token. */
  prompt: ["text", "image", "embedding", "moderation", "rerank", "speech", "transcription"],
  /** One output token, reasoning included. */
  completion: ["text", "image", "transcription"],
  /** One prompt token read from a cache. */
  input_cache_read: ["text", "image"],
  /** One prompt token written to a cache that lives five minutes. */
  input_cache_write_5m: ["text"],
  /** One prompt token written to a cache that lives thirty minutes. */
  input_cache_write_30m: ["text"],
  /** One prompt token written to a cache that lives one hour. */
  input_cache_write_1h: ["text", "cache"],
  /** One prompt token written to a cache that lives twelve hours. */
  input_cache_write_12h: ["text"],
  /** One prompt token written to a cache that lives a day. */
  input_cache_write_24h: ["text"],
  /** One token of a cached content, stored for one hour. */
  cache_storage_hour: ["cache"],
  /** One token of an input image. */
  image_input: ["text", "image"],
  /** One token of an input image, read from a cache. */
  image_input_cache_read: ["text", "image"],
  /** One token of an output image. */
  image_output: ["text", "image"],
  /** One token of input audio. */
  audio: ["text", "transcription"],
  /** One token of input audio, read from a cache. */
  audio_cache_read: ["text"],
  /** One token of output audio. */
  audio_output: ["text", "speech"],
  /** One token of output video. */
  video_output: ["text"],
  /** One second of output video, by its resolution and sound; configured as `video.price_per_second`. */
  video_second: ["video"],
  /** One output image, in addition to its tokens. */
  per_image: ["text", "image"],
  /** One input image, in addition to its tokens. */
  per_input_image: ["text", "image"],
  /** One search by a vendor's own search tool. */
  web_search: ["text"],
  /** One search of a vendor in maps. */
  maps_search: ["text"],
  /** One search of a vendor in stored files. */
  file_search: ["text"],
  /** One page of the web that a vendor's own tool reads. */
  web_fetch: ["text"],
  /** One page of a document whose text a vendor recognizes. */
  ocr_page: ["text"],
  /** One character of a text to speak. */
  character: ["speech"],
  /** One second of audio to write down, or in a prompt, where a vendor counts it so. */
  audio_second: ["text", "transcription"],
  /** One query with up to 100 documents to rank. */
  search_unit: ["rerank"],
  /** One request, in addition to what it consumes. */
  request: ["text", "image", "embedding", "moderation", "rerank", "speech", "transcription"],
} as const satisfies Readonly<Record<string, readonly [ChargeKind, ...ChargeKind[]]>>;

/** The key of one price. */
export type PriceKey = keyof typeof CHARGED_BY;

/** The price keys that one kind of charge counts. */
export type PriceKeysOf<E extends ChargeKind> = {
  [K in PriceKey]: E extends (typeof CHARGED_BY)[K][number] ? K : never;
}[PriceKey];

/** Consumed quantities without overlap: at least 0, in thousandths at most. A missing key is 0. */
export type Quantities = Readonly<Partial<Record<PriceKey, number>>>;

/** The quantities of one kind of charge: all of its keys are required. */
export type QuantitiesBy<E extends ChargeKind> = Readonly<Record<PriceKeysOf<E>, number>>;

/** The price of one unit of each key; zero if it is free. Read once, when the catalog is built. */
export type Tariff = Readonly<Record<PriceKey, Rate>>;

/** Quantities and the tariff that applies to them. */
export interface PricedQuantities {
  readonly quantities: Quantities;
  readonly tariff: Tariff;
}

/** Configured names that stand for several price keys. */
const ALIASES = ["image", "input_cache_write"] as const;

/** A name in a configured price list: a {@linkcode PriceKey} or an alias. */
export type PriceName = Exclude<PriceKey, "video_second"> | typeof ALIASES[number];

/** All price keys. */
export const PRICE_KEYS = Object.keys(CHARGED_BY) as readonly PriceKey[];

/** All {@linkcode PriceName}s. */
export const PRICE_NAMES: readonly PriceName[] = [
  ...PRICE_KEYS.filter((key) => key !== "video_second"),
  ...ALIASES,
];

/** The prices of tokens, which a factor multiplies. The others are fees. */
export const TOKEN_PRICES: ReadonlySet<PriceName> = new Set<PriceName>([
  "prompt",
  "completion",
  "input_cache_read",
  "input_cache_write",
  "input_cache_write_5m",
  "input_cache_write_30m",
  "input_cache_write_1h",
  "input_cache_write_12h",
  "input_cache_write_24h",
  "cache_storage_hour",
  "image",
  "image_input",
  "image_input_cache_read",
  "image_output",
  "audio",
  "audio_cache_read",
  "audio_output",
  "video_output",
]);

/** The highest price of a token or a character in USD: 10,000 USD for a million. The dearest model of 2026 has 600. */
const MAX_TOKEN_PRICE = 0.01;
/** The highest price of a second of audio, an image, a request or a second of video in USD. */
const MAX_UNIT_PRICE = 100;
/** The highest price of one search, page or query in USD. The dearest of 2026 is 0.035. */
const MAX_FEE = 1;
const FEES: ReadonlySet<PriceName> = new Set<PriceName>([
  "web_search",
  "maps_search",
  "file_search",
  "web_fetch",
  "ocr_page",
  "search_unit",
]);

/** Whether people state a price for a million: that of a token or of a character. */
export function isPricedByMillion(name: PriceName): boolean {
  return TOKEN_PRICES.has(name) || name === "character";
}

/**
 * The highest plausible price in USD. One above is a mistake, most often the price of a million tokens.
 *
 * @param name Null for a second of video.
 */
export function maxPlausiblePrice(name: PriceName | null): number {
  if (name === null) return MAX_UNIT_PRICE;
  if (isPricedByMillion(name)) return MAX_TOKEN_PRICE;
  return FEES.has(name) ? MAX_FEE : MAX_UNIT_PRICE;
}

/** The names whose price a key takes if it has none; the first configured one applies. */
const FALLBACK_NAMES: Readonly<Partial<Record<PriceKey, readonly PriceName[]>>> = {
  input_cache_read: ["prompt"],
  input_cache_write_5m: ["input_cache_write", "input_cache_write_30m", "prompt"],
  input_cache_write_30m: ["input_cache_write", "input_cache_write_5m", "prompt"],
  input_cache_write_1h: ["input_cache_write", "input_cache_write_5m", "input_cache_write_30m", "prompt"],
  input_cache_write_12h: ["input_cache_write_1h", "input_cache_write", "input_cache_write_30m", "prompt"],
  input_cache_write_24h: ["input_cache_write_12h", "input_cache_write_1h", "input_cache_write", "prompt"],
  image_input: ["image", "prompt"],
  image_input_cache_read: ["image_input", "image", "input_cache_read", "prompt"],
  image_output: ["completion"],
  audio: ["prompt"],
  audio_cache_read: ["audio", "input_cache_read", "prompt"],
  audio_output: ["completion"],
  video_output: ["completion"],
};

/**
 * Reads a configured price list: decimal strings of USD by {@linkcode PriceName}. A missing or null key takes the price
 * of the nearest one (for a cache or a medium, that of the prompt or completion), otherwise zero. Other names are
 * ignored.
 *
 * @throws {RangeError} If a price is not a decimal string, is below zero or finer than 10^-18; the message has the
 * name.
 */
export function readTariff(pricing: Readonly<Record<string, unknown>>): Tariff {
  const rates = new Map<string, Rate>();
  for (const name of PRICE_NAMES) {
    const rate = rateIn(pricing, name);
    if (rate !== null) rates.set(name, rate);
  }
  return tariffOf((key) => {
    for (const name of namesOf(key)) {
      const rate = rates.get(name);
      if (rate !== undefined) return rate;
    }
    return 0n;
  });
}

/** Whether a price list has a price for a key, or for one whose price it takes; zero is a price, too. */
export function isKeyPriced(key: PriceKey, pricing: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(pricing, key) || (FALLBACK_NAMES[key]?.some((name) => Object.hasOwn(pricing, name)) ?? false);
}

/** The higher price of two tariffs for each key. */
export function highestTariff(one: Tariff, other: Tariff): Tariff {
  return tariffOf((key) => one[key] > other[key] ? one[key] : other[key]);
}

/** A tariff with a price for one second of video; everything else is free. */
export function videoSecondTariff(rate: Rate): Tariff {
  return tariffOf((key) => key === "video_second" ? rate : 0n);
}

/** Whether one of these kinds of charges counts a price, or a key that takes its price. */
export function isChargeable(name: PriceName, kinds: readonly ChargeKind[]): boolean {
  return PRICE_KEYS.some((key) => namesOf(key).includes(name) && CHARGED_BY[key].some((kind) => kinds.includes(kind)));
}

/** The kinds of charges that count a price, or a key that takes its price. */
export function chargingKinds(name: PriceName): readonly ChargeKind[] {
  return [...new Set(PRICE_KEYS.filter((key) => namesOf(key).includes(name)).flatMap((key) => CHARGED_BY[key]))];
}

/** The cost of quantities, rounded half up once. */
export function costOf(quantities: Quantities, tariff: Tariff): Money {
  return costOfAll([{ quantities, tariff }]);
}

/** The cost of quantities with different tariffs, rounded half up once. */
export function costOfAll(parts: readonly PricedQuantities[]): Money {
  let total = 0n;
  for (const { quantities, tariff } of parts) {
    for (const key in quantities) {
      const quantity = quantities[key as PriceKey];
      if (quantity) total += exactCostOf(quantity, tariff[key as PriceKey]);
    }
  }
  return roundedMoney(total);
}

function tariffOf(rateOf: (key: PriceKey) => Rate): Tariff {
  return Object.fromEntries(PRICE_KEYS.map((key) => [key, rateOf(key)])) as Tariff;
}

/** A key and the names whose price it may take. */
function namesOf(key: PriceKey): readonly string[] {
  return [key, ...FALLBACK_NAMES[key] ?? []];
}

function rateIn(pricing: Readonly<Record<string, unknown>>, name: string): Rate | null {
  const text = ownValue(pricing, name);
  if (text === null || text === undefined) return null;
  if (typeof text !== "string") throw new RangeError(`Cannot read the price "${name}": expected a decimal string`);
  try {
    return readRate(text);
  } catch (cause) {
    throw new RangeError(`Cannot read the price "${name}": ${(cause as Error).message}`, { cause });
  }
}

import { type Money, type Rate, readRate, sumOf } from "../lib/money.ts";

/** What a charge is for: a conversation, an image, a video, or the creation of a cached content. */
export type ChargeKind = "text" | "image" | "video" | "cache";

/**
 * Every key of a tariff with the endpoints that count it. A key without an endpoint does not compile, and neither does
 * an endpoint that has no counter for one of its keys: see {@linkcode QuantitiesBy}.
 */
export const CHARGED_BY = {
  /** One prompt token. */
  prompt: ["text", "image"],
  /** One token produced, reasoning included. */
  completion: ["text"],
  /** One prompt token read from a cache. */
  input_cache_read: ["text", "image"],
  /** One prompt token written to a cache that lives five minutes. */
  input_cache_write_5m: ["text"],
  /** One prompt token written to a cache that lives one hour. */
  input_cache_write_1h: ["text", "cache"],
  /** One token of an image that was given. */
  image_input: ["text", "image"],
  /** One token of an image that was given and read from a cache. */
  image_input_cache_read: ["text", "image"],
  /** One token of an image that was made. */
  image_output: ["text", "image"],
  /** One token of audio that was given. */
  audio: ["text"],
  /** One token of audio that was given and read from a cache. */
  audio_cache_read: ["text"],
  /** One token of audio that was made. */
  audio_output: ["text"],
  /** One token of video that was made. */
  video_output: ["text"],
  /** One second of a video that was made, by its resolution and sound; written as `video.price_per_second`. */
  video_second: ["video"],
  /** One image that was made, apart from its tokens. */
  per_image: ["text", "image"],
  /** One image that was given, apart from its tokens. */
  per_input_image: ["text", "image"],
  /** One search by a vendor's own search tool. */
  web_search: ["text"],
  /** One request, apart from what it consumes. */
  request: ["text", "image"],
} as const satisfies Readonly<Record<string, readonly [ChargeKind, ...ChargeKind[]]>>;

/** One thing that has a price. */
export type PriceKey = keyof typeof CHARGED_BY;

/** The keys that one endpoint counts. */
export type PriceKeysOf<E extends ChargeKind> = {
  [K in PriceKey]: E extends (typeof CHARGED_BY)[K][number] ? K : never;
}[PriceKey];

/** How much of each thing was consumed, without overlap: from 0, at most thousandths. What is left out is none. */
export type Quantities = Readonly<Partial<Record<PriceKey, number>>>;

/** What one endpoint counts: every key that it charges must be there. */
export type QuantitiesBy<E extends ChargeKind> = Readonly<Record<PriceKeysOf<E>, number>>;

/** The price of one of each thing; zero for what costs nothing. Read once, when the catalog is built. */
export type Tariff = Readonly<Record<PriceKey, Rate>>;

/** Quantities with the tariff that they are charged by. */
export interface PricedQuantities {
  readonly quantities: Quantities;
  readonly tariff: Tariff;
}

/** Written words that are no key of a tariff but stand for some. */
const ALIASES = ["image", "input_cache_write"] as const;

/** A word of a written price list: a {@linkcode PriceKey} or an alias of one. */
export type PriceName = Exclude<PriceKey, "video_second"> | typeof ALIASES[number];

/** Every key of a tariff. */
export const PRICE_KEYS = Object.keys(CHARGED_BY) as readonly PriceKey[];

/** Every {@linkcode PriceName}. */
export const PRICE_NAMES: readonly PriceName[] = [
  ...PRICE_KEYS.filter((key) => key !== "video_second"),
  ...ALIASES,
];

/** The words whose price a key has where it has none of its own; the first one that is written holds. */
const FOLLOWS: Readonly<Partial<Record<PriceKey, readonly PriceName[]>>> = {
  input_cache_read: ["prompt"],
  input_cache_write_5m: ["input_cache_write", "prompt"],
  input_cache_write_1h: ["input_cache_write", "input_cache_write_5m", "prompt"],
  image_input: ["image", "prompt"],
  image_input_cache_read: ["image_input", "image", "input_cache_read", "prompt"],
  image_output: ["completion"],
  audio: ["prompt"],
  audio_cache_read: ["audio", "input_cache_read", "prompt"],
  audio_output: ["completion"],
  video_output: ["completion"],
};

/**
 * Reads a written price list: decimal strings of USD by {@linkcode PriceName}. A key that is missing or null has the
 * price of the nearest one (a cache's or a medium's that of the prompt or completion), else zero. Other words are
 * ignored.
 *
 * @throws {RangeError} If a price is no decimal string, below zero or finer than 10^-18; the message names the word.
 */
export function readTariff(pricing: Readonly<Record<string, unknown>>): Tariff {
  const rates = new Map<string, Rate>();
  for (const word of PRICE_NAMES) {
    const rate = rateIn(pricing, word);
    if (rate !== null) rates.set(word, rate);
  }
  return tariffOf((key) => {
    const word = wordsOf(key).find((each) => rates.has(each));
    return word === undefined ? 0n : rates.get(word)!;
  });
}

/** For each thing the higher price of two tariffs. */
export function highestTariff(one: Tariff, other: Tariff): Tariff {
  return tariffOf((key) => one[key] > other[key] ? one[key] : other[key]);
}

/** The tariff of one second of video at a rate; all else is free. */
export function videoSecondTariff(rate: Rate): Tariff {
  return tariffOf((key) => key === "video_second" ? rate : 0n);
}

/** Whether one of these endpoints counts what a written price is for, or something that has its price. */
export function isChargeable(word: PriceName, endpoints: readonly ChargeKind[]): boolean {
  return PRICE_KEYS.some((key) =>
    wordsOf(key).includes(word) && CHARGED_BY[key].some((endpoint) => endpoints.includes(endpoint))
  );
}

/** What quantities cost, rounded half up once. */
export function costOf(quantities: Quantities, tariff: Tariff): Money {
  return costOfAll([{ quantities, tariff }]);
}

/** What quantities with tariffs of their own cost together, rounded half up once. */
export function costOfAll(parts: readonly PricedQuantities[]): Money {
  return sumOf(
    parts.flatMap(({ quantities, tariff }) =>
      (Object.keys(quantities) as PriceKey[]).map((key) => ({ quantity: quantities[key] ?? 0, rate: tariff[key] }))
    ),
  );
}

function tariffOf(rateOf: (key: PriceKey) => Rate): Tariff {
  return Object.fromEntries(PRICE_KEYS.map((key) => [key, rateOf(key)])) as Tariff;
}

/** A key and the words that it follows. */
function wordsOf(key: PriceKey): readonly string[] {
  return [key, ...FOLLOWS[key] ?? []];
}

function rateIn(pricing: Readonly<Record<string, unknown>>, word: string): Rate | null {
  const text = Object.hasOwn(pricing, word) ? pricing[word] : null;
  if (text === null || text === undefined) return null;
  if (typeof text !== "string") throw new RangeError(`Cannot read the price "${word}": expected a decimal string`);
  try {
    return readRate(text);
  } catch (cause) {
    throw new RangeError(`Cannot read the price "${word}": ${(cause as Error).message}`, { cause });
  }
}

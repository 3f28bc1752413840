import * as z from "zod";
import { isPricedByMillion, PRICE_NAMES, type PriceName } from "../../../money/billing/prices/tariff.ts";
import { readRate } from "../../../platform/lib/basics/money.ts";
import { PER_MILLION } from "../../../platform/names/per_million.ts";
import { setting, type SettingFacts } from "../../../platform/lib/settings/setting.ts";

const PRICE_EXPECTATION = 'a decimal number of USD in quotes, such as "0.000005"';

/** The schema of a decimal USD amount. */
export const price: z.ZodType<string> = z.string(PRICE_EXPECTATION).refine(isPrice, PRICE_EXPECTATION);

type PriceFacts = Omit<SettingFacts, "default" | "as">;

/** What is said about the price of one of something. */
function one(of: string, example: string, otherwise = "0"): PriceFacts {
  return { text: `The price of one ${of}`, example, otherwise };
}

/** Every price of a model. */
const PRICES: { readonly [Name in PriceName]: PriceFacts } = {
  prompt: one("input token", "0.000005"),
  completion: one("output token, including reasoning", "0.00001"),
  input_cache_read: one("token read from a cache", "0.0000005", "`prompt`"),
  input_cache_write_5m: one(
    "token written to a cache of five minutes",
    "0.00000625",
    "`input_cache_write`, `prompt`",
  ),
  input_cache_write_1h: one(
    "token written to a cache of an hour",
    "0.00001",
    "`input_cache_write`, `input_cache_write_5m`, `prompt`",
  ),
  input_cache_write_30m: one(
    "token written to a cache of thirty minutes",
    "0.0000025",
    "`input_cache_write`, `input_cache_write_5m`, `prompt`",
  ),
  input_cache_write_12h: one(
    "token written to a cache of twelve hours",
    "0.000005",
    "`input_cache_write_1h`, `input_cache_write`, `input_cache_write_30m`, `prompt`",
  ),
  input_cache_write_24h: one(
    "token written to a cache of a day",
    "0.000005",
    "`input_cache_write_12h`, `input_cache_write_1h`, `input_cache_write`, `prompt`",
  ),
  input_cache_write: one("token written to a cache of any lifetime", "0.00000625", "see those above"),
  cache_storage_hour: one("token of a cached content that a vendor stores for an hour", "0.0000045"),
  image_input: one("token of an input image", "0.000008", "`prompt`"),
  image: one("token of an input image; another name of `image_input`", "0.000008", "`prompt`"),
  image_input_cache_read: one(
    "token of an input image, read from a cache",
    "0.000002",
    "`image_input`, `input_cache_read`",
  ),
  image_output: one("token of an output image", "0.000032", "`completion`"),
  audio: one("token of input audio", "0.00001", "`prompt`"),
  audio_cache_read: one("token of input audio, read from a cache", "0.000001", "`audio`, `input_cache_read`"),
  audio_output: one("token of output audio", "0.00002", "`completion`"),
  video_output: one("token of output video", "0.00002", "`completion`"),
  per_image: one("output image, in addition to its tokens", "0.04"),
  per_input_image: one("input image, in addition to its tokens", "0.001"),
  web_search: one("search by the vendor's tool", "0.01"),
  maps_search: one("search of the vendor in maps", "0.014"),
  file_search: one("search of the vendor in stored files", "0.0025"),
  web_fetch: one("page that the vendor's tool reads", "0.001"),
  ocr_page: one("page of a document whose text the vendor recognizes", "0.001"),
  character: one("character of a text to speak", "0.000015"),
  audio_second: one("second of audio to write down", "0.0001"),
  search_unit: one("query with up to 100 documents", "0.002"),
  request: one("request", "0.001"),
};

/** The names whose price can be written for a million. */
export const MILLION_NAMES: readonly PriceName[] = PRICE_NAMES.filter(isPricedByMillion);

/** The names of prices as an operator can write them. */
export const WRITTEN_PRICE_NAMES: readonly string[] = [
  ...PRICE_NAMES,
  ...MILLION_NAMES.map((name) => name + PER_MILLION),
];

/** The settings of prices by their names, also those of a million. */
export const PRICE_FIELDS = Object.fromEntries([
  ...PRICE_NAMES.map((name) => [name, setting(priceOf(name).optional(), PRICES[name])]),
  ...MILLION_NAMES.map((name) => [
    name + PER_MILLION,
    setting(price.optional(), {
      text: `The same of a million, instead of \`${name}\``,
      example: "2.50",
      otherwise: "none",
    }),
  ]),
]) as Record<PriceName, z.ZodOptional<typeof price>>;

/** The schema of a price by its name. The price of one token or character is often written for a million. */
function priceOf(name: PriceName): z.ZodType<string> {
  if (!MILLION_NAMES.includes(name)) return price;
  const expected = `${PRICE_EXPECTATION}, or the price of a million as ${name}${PER_MILLION}: "5"`;
  return z.string(expected).refine(isPrice, expected);
}

function isPrice(value: string): boolean {
  try {
    readRate(value);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

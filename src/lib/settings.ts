import * as z from "zod";

/**
 * The kinds of value that an operator's file is made of. Every schema here carries its expectation as its error text,
 * a noun phrase that reads on from "expected": whoever reads the file adds the place and what stood there.
 *
 * A value taken from the environment is always text, so numbers and switches are read from text as well.
 */

/** What a capability's reader hands on to zod: how problems are worded, and that they carry the input. */
export type ReadContext = z.core.ParseContext<z.core.$ZodIssue>;

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;
const SIZE = /^(\d{1,12})(B|KB|MB|GB|KiB|MiB|GiB)?$/;
const SIZE_UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** A number without a fraction, `least` and `most` included; `of` names what is counted: `"tokens"`. */
export function wholeNumber(least: number, most: number, of?: string): z.ZodType<number> {
  const expectation = `a whole number${of ? ` of ${of}` : ""} from ${least} to ${most}`;
  return z.preprocess(numberIn, z.int(expectation).min(least, expectation).max(most, expectation));
}

/** A number of any kind but infinite, `least` and `most` included. */
export function number(least: number, most: number, of?: string): z.ZodType<number> {
  const expectation = `a number${of ? ` of ${of}` : ""} from ${least} to ${most}`;
  return z.preprocess(numberIn, z.number(expectation).min(least, expectation).max(most, expectation));
}

/** A span in seconds, read into whole milliseconds. */
export function seconds(least: number, most: number): z.ZodType<number> {
  return number(least, most, "seconds").transform((span) => Math.round(span * 1000));
}

/** A size: bytes as a number, or text with a unit (`20MB`, `64KiB`); read into bytes. */
export function bytes(least: number, most: number): z.ZodType<number> {
  const expectation = `a size from ${least} to ${most} bytes, such as 65536 or "20MB"`;
  return z.preprocess(sizeIn, z.int(expectation).min(least, expectation).max(most, expectation));
}

/** True or false. */
export function boolean(): z.ZodType<boolean> {
  return z.preprocess((value) => value === "true" ? true : value === "false" ? false : value, z.boolean());
}

/** Text of one line or more, without control characters but tab and line feed; surrounding blanks are kept. */
export function text(least: number, most: number): z.ZodType<string> {
  const expectation = `text of ${least} to ${most} characters`;
  return z.string(expectation).min(least, expectation).max(most, expectation)
    .refine((value) => !/[^\P{Cc}\t\n]/u.test(value), "text without control characters");
}

/** A secret: visible ASCII without blanks, so that it can travel in a header. */
export function secret(least: number): z.ZodType<string> {
  const expectation = `a secret of ${least} to 512 visible ASCII characters`;
  return z.string(expectation).refine(
    (value) => value.length >= least && value.length <= 512 && /^[\x21-\x7e]+$/.test(value),
    expectation,
  );
}

/** As the schema says, or nothing: left out, empty, or empty text as `${NAME:-}` gives it. Read as null then. */
export function optional<T>(schema: z.ZodType<T>): z.ZodType<T | null> {
  return z.preprocess((value) => value === "" ? null : value, schema.nullable()).default(null);
}

/** A list whose items differ from each other. */
export function distinct<T>(item: z.ZodType<T>, least: number): z.ZodType<T[]> {
  return z.array(item, "a list").min(least, `a list of at least ${least}`)
    .refine((items) => new Set(items).size === items.length, "a list without repetitions");
}

/** An absolute http or https address without credentials, query or fragment; a closing slash is taken off. */
export function httpAddress(): z.ZodType<string> {
  const expectation = "an http or https address without user, query and fragment";
  return z.string(expectation).refine(isPlainAddress, expectation).transform((value) => value.replace(/\/+$/, ""));
}

/** A calendar date, such as `2026-09-22`, with or without a time of day in UTC. */
export function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?$/.test(value) && !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString().startsWith(value.slice(0, 10));
}

function isPlainAddress(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || /[\s?#@]/.test(value)) return false;
  return URL.canParse(value);
}

function numberIn(value: unknown): unknown {
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
}

function sizeIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const match = SIZE.exec(value.replace(/ /g, ""));
  return match ? Number(match[1]) * SIZE_UNITS[match[2] ?? "B"] : value;
}

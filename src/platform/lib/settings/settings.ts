import * as z from "zod";
import { ownValue } from "../collections/own_value.ts";

/**
 * The value types of the configuration file. The error text of every schema is a noun phrase that continues "expected".
 * The reader of the file adds the path and the actual value.
 *
 * Values from the environment are always text, so numbers and switches are also read from text.
 */

/** The zod context of a section's reader: how problems are worded, and that they carry the input. */
export type ReadContext = z.core.ParseContext<z.core.$ZodIssue>;

const MAX_ADDRESS_CHARACTERS = 2_000;
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

const DAY_MS = 86_400_000;
const DURATION = /^(\d{1,12}(?:\.\d{1,6})?)([smhd])?$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** What a number is converted to: a time to milliseconds, a size to bytes. */
export type Measure = "seconds" | "days" | "bytes";

/** A schema of a number that is converted. */
export interface Measured<Of extends Measure> {
  readonly measure: Of;
}

/** What is known of a type besides its schema. */
export interface TypeTraits {
  readonly measure?: Measure;
  /** Whether it is a secret. */
  readonly isSecret?: true;
}

/** The traits that a type of schemas has. */
export type TraitsOf<Type> = Pick<Type, Extract<keyof Type, keyof TypeTraits>>;

/** The traits of a type; empty if it has none. */
export function traitsOf(type: z.ZodType & TypeTraits): TypeTraits {
  const { measure, isSecret } = type;
  return { ...measure && { measure }, ...isSecret && { isSecret } };
}

/** An integer from `min` to `max`; `of` names the unit: `"tokens"`. */
export function wholeNumber(min: number, max: number, of?: string): z.ZodType<number> {
  const expectation = `a whole number${of ? ` of ${of}` : ""} from ${min} to ${max}`;
  return z.preprocess(numberIn, z.int(expectation).min(min, expectation).max(max, expectation));
}

/** A finite number from `min` to `max`; `of` names the unit. */
export function number(min: number, max: number, of?: string): z.ZodType<number> {
  const expectation = `a number${of ? ` of ${of}` : ""} from ${min} to ${max}`;
  return z.preprocess(numberIn, z.number(expectation).min(min, expectation).max(max, expectation));
}

/** A duration in seconds, converted to whole milliseconds. */
export function seconds(min: number, max: number): z.ZodType<number> & Measured<"seconds"> {
  const type = number(min, max, "seconds").transform((span) => Math.round(span * 1000));
  return Object.assign(type, { measure: "seconds" as const });
}

/** A duration in days, converted to whole milliseconds. */
export function days(min: number, max: number): z.ZodType<number> & Measured<"days"> {
  const type = number(min, max, "days").transform((span) => Math.round(span * DAY_MS));
  return Object.assign(type, { measure: "days" as const });
}

/** A duration: seconds as a number, or text with a unit (`90s`, `15m`, `6h`, `30d`). Converted to milliseconds. */
export function duration(min: number, max: number): z.ZodType<number> & Measured<"seconds"> {
  const expectation = `a duration from ${min} to ${max} seconds, such as 3600, "6h" or "30d"`;
  const type = z.preprocess(secondsIn, z.number(expectation).min(min, expectation).max(max, expectation))
    .transform((span) => Math.round(span * 1000));
  return Object.assign(type, { measure: "seconds" as const });
}

/** A size: bytes as a number, or text with a unit (`20MB`, `64KiB`). Converted to bytes. */
export function bytes(min: number, max: number): z.ZodType<number> & Measured<"bytes"> {
  const expectation = `a size from ${min} to ${max} bytes, such as 65536 or "20MB"`;
  const type = z.preprocess(sizeIn, z.int(expectation).min(min, expectation).max(max, expectation));
  return Object.assign(type, { measure: "bytes" as const });
}

/** True or false. */
export function boolean(): z.ZodType<boolean> {
  return z.preprocess((value) => value === "true" ? true : value === "false" ? false : value, z.boolean());
}

/** Text of one or more lines, without control characters except tab and line feed. Surrounding spaces are kept. */
export function text(min: number, max: number): z.ZodType<string> {
  const expectation = `text of ${min} to ${max} characters`;
  return z.string(expectation).min(min, expectation).max(max, expectation)
    .refine((value) => !/[^\P{Cc}\t\n]/u.test(value), "text without control characters");
}

/** A secret: visible ASCII without spaces, so that it can be sent in a header. */
export function secret(min: number, max: number = 512): z.ZodType<string> & { readonly isSecret: true } {
  const expectation = `a secret of ${min} to ${max} visible ASCII characters`;
  const type = z.string(expectation).refine(
    (value) => value.length >= min && value.length <= max && /^[\x21-\x7e]+$/.test(value),
    expectation,
  );
  return Object.assign(type, { isSecret: true as const });
}

/** An optional value. Missing, empty, or the empty text of `${NAME:-}` is read as null. */
export function optional<Type extends z.ZodType>(type: Type): z.ZodType<z.output<Type> | null> & TraitsOf<Type>;
export function optional(type: z.ZodType): z.ZodType {
  const schema = z.preprocess((value) => value === "" ? null : value, type.nullable()).default(null);
  return Object.assign(schema, traitsOf(type));
}

/** A list without repeated items. */
export function distinct<T>(item: z.ZodType<T>, min: number): z.ZodType<T[]> {
  return z.array(item, "a list").min(min, `a list of at least ${min}`)
    .refine((items) => new Set(items).size === items.length, "a list without repetitions");
}

/** An absolute http or https address without credentials, query or fragment. A trailing slash is removed. */
export function httpAddress(): z.ZodType<string> {
  const expectation = "an http or https address without user, query and fragment";
  return z.string(expectation).refine(isPlainAddress, expectation).transform((value) => value.replace(/\/+$/, ""));
}

/** An https address that gets events, without credentials and fragment. */
export function receiverAddress(): z.ZodType<string> {
  const expectation = `an https address of up to ${MAX_ADDRESS_CHARACTERS} characters without user and fragment`;
  return z.string(expectation).max(MAX_ADDRESS_CHARACTERS, expectation).refine(isReceiverAddress, expectation);
}

function isReceiverAddress(value: string): boolean {
  if (!/^https:\/\//i.test(value) || /[\s#]/.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}

function isPlainAddress(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || /[\s?#@]/.test(value)) return false;
  return URL.canParse(value);
}

function numberIn(value: unknown): unknown {
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
}

function secondsIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const [, amount, unit = "s"] = DURATION.exec(value.replace(/ /g, "")) ?? [];
  const unitSeconds = ownValue(DURATION_UNITS, unit);
  return amount === undefined || unitSeconds === undefined ? value : Number(amount) * unitSeconds;
}

function sizeIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const [, amount, unit = "B"] = SIZE.exec(value.replace(/ /g, "")) ?? [];
  const unitBytes = ownValue(SIZE_UNITS, unit);
  return amount === undefined || unitBytes === undefined ? value : Number(amount) * unitBytes;
}

import { assertEquals } from "@std/assert";
import type * as z from "zod";
import { isDate } from "../../src/platform/lib/text/iso_date.ts";
import {
  boolean,
  bytes,
  distinct,
  httpAddress,
  number,
  optional,
  seconds,
  secret,
  text,
  wholeNumber,
} from "../../src/platform/lib/settings/settings.ts";
import { itemAt } from "../support/items.ts";

/** The value that a schema reads, or the expectation that its error names. */
function readBy<T>(schema: z.ZodType<T>, value: unknown): T | string {
  const { success, data, error } = schema.safeParse(value);
  return success ? data : `expected ${itemAt(error.issues, 0).message}`;
}

Deno.test("numbers are read from numbers and from the text of an environment variable", () => {
  assertEquals(["8", 8, "-3"].map((value) => readBy(wholeNumber(-5, 10), value)), [8, 8, -3]);
  assertEquals(readBy(number(0, 1), "0.25"), 0.25);
  for (const value of [1.5, "1.5", "", " 8", "0x8", "8e0", NaN, Infinity, null, true, [8]]) {
    assertEquals(readBy(wholeNumber(0, 10, "tokens"), value), "expected a whole number of tokens from 0 to 10");
  }
});

Deno.test("seconds() returns whole milliseconds", () => {
  assertEquals([10, "0.25", 0.0104].map((value) => readBy(seconds(0.01, 60), value)), [10_000, 250, 10]);
  assertEquals(readBy(seconds(0.01, 60), 61), "expected a number of seconds from 0.01 to 60");
});

Deno.test("bytes() accepts decimal and binary units", () => {
  const sizes = [1, "1", "2KB", "2 KiB", "3MB", "1MiB", "1GB"].map((value) => readBy(bytes(1, 1e9), value));
  assertEquals(sizes, [1, 1, 2000, 2048, 3_000_000, 1_048_576, 1_000_000_000]);
  for (const value of ["2TB", "1.5MB", "-1", 0, "MB", "2GB"]) {
    assertEquals(readBy(bytes(1, 1e9), value), 'expected a size from 1 to 1000000000 bytes, such as 65536 or "20MB"');
  }
});

Deno.test("boolean() accepts true and false, also as text, and nothing similar", () => {
  assertEquals([true, "true", false, "false"].map((value) => readBy(boolean(), value)), [true, true, false, false]);
  for (const value of ["yes", 1, "", "TRUE"]) assertEquals(typeof readBy(boolean(), value), "string");
});

Deno.test("text() and secret() reject characters that would break a line or a header", () => {
  assertEquals(readBy(text(1, 5), "a\tb\n"), "a\tb\n");
  assertEquals(readBy(text(1, 5), "a\rb"), "expected text without control characters");
  assertEquals(readBy(text(1, 5), "abcdef"), "expected text of 1 to 5 characters");
  assertEquals(readBy(secret(4), "abcd"), "abcd");
  for (const value of ["abc", "ab cd", "äöüß", "abcd\n", 4444]) {
    assertEquals(readBy(secret(4), value), "expected a secret of 4 to 512 visible ASCII characters");
  }
});

Deno.test("optional() reads an absent or empty value as null", () => {
  assertEquals([undefined, null, "", "abcd"].map((value) => readBy(optional(secret(4)), value)), [
    null,
    null,
    null,
    "abcd",
  ]);
});

Deno.test("distinct() rejects duplicates", () => {
  assertEquals(readBy(distinct(text(1, 5), 1), ["a", "a"]), "expected a list without repetitions");
  assertEquals(readBy(distinct(text(1, 5), 1), []), "expected a list of at least 1");
});

Deno.test("httpAddress() removes trailing slashes", () => {
  assertEquals(readBy(httpAddress(), "http://[::1]:80/v1//"), "http://[::1]:80/v1");
});

Deno.test("isDate() follows the calendar", () => {
  assertEquals(["2026-02-28", "2028-02-29", "2026-01-01T23:59:59Z"].map(isDate), [true, true, true]);
  assertEquals(["2026-02-29", "2026-13-01", "2026-1-1", "x", "2026-01-01T24:00:01Z"].map(isDate), [
    false,
    false,
    false,
    false,
    false,
  ]);
});

import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { ownValue } from "../platform/lib/collections/own_value.ts";

/** A text of each format. Source: JSON Schema 2020-12, "Defined Formats". */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T12:00:00Z",
  date: "2026-01-01",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** Texts to try against a pattern. Texts cannot be derived from a pattern, but most patterns are simple. */
const SAMPLES: readonly string[] = [
  ...Object.values(FORMATS),
  ...[
    "text",
    "Text",
    "TEXT",
    "a",
    "A",
    "1",
    "abc",
    "ABC",
    "123",
    "1.5",
    "a1",
    "A1",
    "abc123",
    "some_text",
    "some-text",
  ],
  ...[
    "AB-12",
    "ABC-123",
    "abc-123",
    "AB12",
    "12:00",
    "12345",
    "12345-6789",
    "+15550100",
    "555-0100",
    "#a1b2c3",
    "$1.50",
  ],
  ...["en", "en-US", "USD", "/path", "v1.0.0", "1.0.0", "{}", "a@b.co", "true", "Some text"],
];

/** Repeated to match patterns that fix a length. */
const SIGNS = ["a", "A", "0", "1"];

/**
 * Returns a text that satisfies a schema of type string. Without further rules it is the property's own name.
 *
 * @param name The name of the property.
 */
export function textFor(schema: JsonObject, name: string): string {
  const format = typeof schema.format === "string" ? schema.format : "";
  const example = ownValue(FORMATS, format);
  if (example !== undefined) return example;
  const least = lengthIn(schema.minLength) ?? 0;
  const most = lengthIn(schema.maxLength) ?? Infinity;
  const plain = fitted(name === "" ? "text" : name, least, most);
  if (typeof schema.pattern !== "string") return plain;
  const pattern = regularExpression(schema.pattern);
  const fits = (text: string) => [...text].length >= least && [...text].length <= most && pattern?.test(text);
  return [plain, ...SAMPLES].find(fits) ?? repeated().find(fits) ?? plain;
}

function* repeated(): Generator<string> {
  for (let length = 1; length <= 64; length++) for (const sign of SIGNS) yield sign.repeat(length);
}

function fitted(text: string, least: number, most: number): string {
  const signs = [...text.padEnd(Math.min(least, 100_000), "x")];
  return signs.slice(0, most).join("");
}

function regularExpression(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}

/** Counts of the content format may be sent as text. */
function lengthIn(value: unknown): number | null {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && number >= 0 ? number : null;
}

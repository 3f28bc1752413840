import type { JsonSchema } from "../neutral/conversation.ts";

/** The formats of text that vendors enforce. Source: the guides on structured outputs of OpenAI and Anthropic. */
export const FORMATS: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Whether a pattern has neither assertions about what surrounds it nor back references, which vendors refuse. */
export function isSimplePattern(pattern: string): boolean {
  return !/\(\?(?:=|!|<=|<!)|\\[1-9]|\\k</.test(pattern);
}

/** A schema with keywords in its description in place of themselves. They are not enforced, but understood. */
export function describedKeywords(schema: JsonSchema, keywords: readonly string[]): JsonSchema {
  const limits = keywords.map((keyword) => `${keyword}: ${textOfLimit(schema[keyword])}`).join(", ");
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
  const description = typeof kept.description === "string" ? `${kept.description} ` : "";
  return { ...kept, description: `${description}(${limits})` };
}

function textOfLimit(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The instruction for a reply whose schema a vendor does not enforce. Vendors want the word "JSON" in it. */
export function describedSchema(schema: unknown): string {
  return `Answer with JSON that matches this JSON Schema and nothing else:\n${JSON.stringify(schema)}`;
}

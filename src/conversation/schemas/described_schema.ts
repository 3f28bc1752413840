/** The instruction for a reply whose schema a vendor does not enforce. Vendors want the word "JSON" in it. */
export function describedSchema(schema: unknown): string {
  return `Answer with JSON that matches this JSON Schema and nothing else:\n${JSON.stringify(schema)}`;
}

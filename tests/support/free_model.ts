/** A model of a test that is not about money: free, unless the test gives it a price. */
export function freeUnlessPriced(model: unknown): Readonly<Record<string, unknown>> {
  const entry: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(model ?? {}));
  const isSaid = "pricing" in entry || "video" in entry || String(entry.id).includes("*");
  return isSaid ? entry : { ...entry, pricing: "free" };
}

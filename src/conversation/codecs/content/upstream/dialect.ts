import { geminiDialect } from "../../../schemas/gemini_dialect.ts";
import { dialectFor, type SchemaDialect } from "../../../schemas/schema_dialect.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";

/** What the vendors of this format accept in a schema. */
export function dialectOf({ facts, quirks }: Pick<RequestTarget, "facts" | "quirks">): SchemaDialect {
  return dialectFor(facts, geminiDialect({ isOpenApi: quirks.has("openapi_schemas") }));
}

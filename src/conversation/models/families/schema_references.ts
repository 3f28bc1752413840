import type { FactEntry } from "./fact_entry.ts";

/** Models that do not read references in schemas, whoever serves them. */
export const SCHEMA_REFERENCE_FACTS: readonly FactEntry[] = [
  {
    models: ["gpt-oss*", "qwen*"],
    source: "pydantic-ai, profiles of gpt-oss and Qwen: definitions are inlined",
    seen: "2026-11",
    facts: { hasSchemaReferences: false },
  },
  {
    models: ["glm-5.3*"],
    source: "pydantic/pydantic-ai#10243: arguments whose schema is a reference come as text",
    seen: "2026-11",
    facts: { hasSchemaReferences: false },
  },
  {
    models: ["grok*"],
    source: "pydantic/pydantic-ai#10987: Azure refuses $ref in a tool's schema of Grok",
    seen: "2026-11",
    facts: { hasSchemaReferences: false },
  },
];

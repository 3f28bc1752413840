import { anthropic } from "./anthropic/mod.ts";
import { google } from "./google/mod.ts";
import { openai } from "./openai/mod.ts";
import type { UpstreamKind } from "./upstream.ts";

/** Every kind of vendor, a line each, by the word that `kind` has in the configuration. */
export const KINDS: Readonly<Record<string, UpstreamKind>> = { openai, anthropic, google };

import { anthropic } from "./anthropic/mod.ts";
import { ark } from "./ark/mod.ts";
import { fal } from "./fal/mod.ts";
import { google } from "./google/mod.ts";
import { minimax } from "./minimax/mod.ts";
import { openai } from "./openai/mod.ts";
import { xai } from "./xai/mod.ts";
import type { UpstreamKind } from "./upstream.ts";

/** Every kind of vendor, a line each, by the word that `kind` has in the configuration. */
export const KINDS: Readonly<Record<string, UpstreamKind>> = {
  openai,
  anthropic,
  google,
  ark,
  xai,
  minimax,
  fal,
};

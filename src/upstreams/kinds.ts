import { alibaba } from "./alibaba/mod.ts";
import { anthropic } from "./anthropic/mod.ts";
import { ark } from "./ark/mod.ts";
import { bfl } from "./bfl/mod.ts";
import { fal } from "./fal/mod.ts";
import { google } from "./google/mod.ts";
import { kling } from "./kling/mod.ts";
import { minimax } from "./minimax/mod.ts";
import { openai } from "./openai/mod.ts";
import { replicate } from "./replicate/mod.ts";
import { runway } from "./runway/mod.ts";
import { xai } from "./xai/mod.ts";
import type { UpstreamKind } from "./upstream.ts";

/** All vendor kinds, by the value of `kind` in the configuration. */
const KINDS = {
  openai,
  anthropic,
  google,
  ark,
  xai,
  minimax,
  fal,
  bfl,
  kling,
  alibaba,
  replicate,
  runway,
} satisfies Readonly<Record<string, UpstreamKind>>;

/** A key of {@linkcode KINDS}. */
export type ProviderKind = keyof typeof KINDS;

/** Returns the kind of that name. */
export function kindOf(name: ProviderKind): UpstreamKind {
  return KINDS[name];
}

/** The names of the kinds, in their order. */
export const PROVIDER_KINDS: readonly [ProviderKind, ...ProviderKind[]] = Object.keys(KINDS) as [
  ProviderKind,
  ...ProviderKind[],
];

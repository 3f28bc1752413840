import type { RequestTarget } from "../../../upstream_format.ts";

/** What a model of this form's vendors takes; a request outside of it is refused, so the writer asks first. */
export interface ModelTraits {
  /** `enabled` takes a budget of tokens, `adaptive` an effort. */
  readonly thinking: "none" | "enabled" | "adaptive";
  /** True when the effort `xhigh` is known to it. */
  readonly takesXhigh: boolean;
  /** False when temperature, top_p and top_k are refused. */
  readonly takesSampling: boolean;
  /** False when temperature and top_p are refused together. */
  readonly takesBothSamplings: boolean;
  /** True when a last turn of the assistant is continued. */
  readonly takesPrefill: boolean;
  /** True when `output_config.format` and `strict` of tools are known to it. */
  readonly takesSchemas: boolean;
  /** True when `thinking.display` is known to it. */
  readonly takesDisplay: boolean;
}

/**
 * Told by the version in the model's name (`claude-opus-4-8`, `claude-3-7-sonnet-latest`). A name without one is a
 * newer model of the author's, or, of vendors that only resemble it, one that knows the older fields.
 * Source: Messages API reference, "Thinking", "Structured outputs", "Prefill" and the deprecations of `temperature`.
 */
export function traitsOf(target: RequestTarget): ModelTraits {
  const version = versionIn(target.model);
  if (version === null) return target.compatible ? RESEMBLING : UNKNOWN;
  return {
    thinking: version < 307 ? "none" : version < 406 ? "enabled" : "adaptive",
    takesXhigh: version >= 407,
    takesSampling: version < 407,
    takesBothSamplings: version < 400,
    takesPrefill: version < 406,
    takesSchemas: version >= 405 && !target.compatible,
    takesDisplay: version >= 406 && !target.compatible,
  };
}

const UNKNOWN: ModelTraits = {
  thinking: "adaptive",
  takesXhigh: true,
  takesSampling: true,
  takesBothSamplings: false,
  takesPrefill: true,
  takesSchemas: true,
  takesDisplay: true,
};

const RESEMBLING: ModelTraits = {
  thinking: "enabled",
  takesXhigh: false,
  takesSampling: true,
  takesBothSamplings: true,
  takesPrefill: true,
  takesSchemas: false,
  takesDisplay: false,
};

/** `407` for 4.7; null without a version. The eight digits of a date are no version. */
function versionIn(model: string): number | null {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(model.toLowerCase());
  return match ? Number(match[1]) * 100 + Number(match[2] ?? 0) : null;
}

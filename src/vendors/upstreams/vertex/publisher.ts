import type { ModelPaths } from "../shared/model_paths.ts";

const PREFIX = /^(?:publishers\/)?(google|anthropic)\/(?:models\/)?/;

/**
 * The publisher of a model, as its name states it: `anthropic/claude-…`, or `claude-…` alone. Null for a name with
 * another publisher (`meta/llama-…`); any other name is Google's.
 */
export function publisherOf(model: string): "google" | "anthropic" | null {
  const named = PREFIX.exec(model)?.[1];
  if (named === "google" || named === "anthropic") return named;
  if (model.includes("/")) return null;
  return model.startsWith("claude-") ? "anthropic" : "google";
}

/** The name of a model without its publisher, as a segment of a path. */
export function pathNameOf(model: string): string {
  // Versions follow an at sign, which needs no escape in a path (RFC 3986, 3.3).
  return encodeURIComponent(model.replace(PREFIX, "")).replaceAll("%40", "@");
}

/**
 * The paths of Google's models.
 *
 * @param resource The version of the API and the location of the project.
 */
export function googlePaths(resource: string): ModelPaths {
  return (model, method) => `${resource}/publishers/google/models/${pathNameOf(model)}:${method}`;
}

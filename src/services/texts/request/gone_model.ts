import type { Model } from "../../../vendors/catalog/model.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";

/**
 * The codes of vendors for a model that they do not have or no longer have. Sources: OpenAI API reference, "Error
 * codes"; Groq documentation, "Model deprecations"; Azure OpenAI, `DeploymentNotFound`.
 */
const GONE_CODES: ReadonlySet<string> = new Set([
  "model_not_found",
  "model_decommissioned",
  "model_deprecated",
  "model_retired",
  "ModelDeprecated",
]);

/** The refused model, and what it is called at the vendor. */
export interface RefusedModel {
  readonly model: Model;
  /** The vendor's name of the model. */
  readonly name: string;
}

/**
 * The failure of a vendor that no longer has a model, as a 404 that names the successor if one is known; another
 * failure as it is.
 */
export function withSuccessor(failure: UpstreamFailure, { model, name }: RefusedModel): UpstreamFailure {
  if (!isGone(failure, name)) return failure;
  const { provider, kind, message, facts } = failure;
  const { redirect } = model;
  const successor = redirect === null ? "" : `; its successor is "${redirect.model ?? redirect.to}"`;
  const text = `${message}${successor}`;
  return new UpstreamFailure(provider, kind, text, { ...facts, status: 404, isModelGone: true });
}

/** Anthropic and Google name the model in a 404 with a code of any missing object. */
function isGone({ kind, message, facts: { status, vendorCode } }: UpstreamFailure, name: string): boolean {
  if (kind !== "invalid") return false;
  if (vendorCode !== undefined && GONE_CODES.has(vendorCode)) return true;
  return status === 410 || (status === 404 && message.includes(name));
}

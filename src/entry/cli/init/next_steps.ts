import type { Model } from "../../../vendors/catalog/model.ts";
import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import { CONSOLE_ROOT } from "../../../platform/endpoints/service.ts";
import { CALLER_KEY } from "./files.ts";

/** What a first request needs. */
export interface FirstRequest {
  /** Of the gateway, without a final slash. */
  readonly address: string;
  /** The link that signs in to the console once; null if the gateway does not run. */
  readonly link: string | null;
  /** The id of a text model; null if none is known yet. */
  readonly model: string | null;
  /** The key for callers. */
  readonly key: string;
}

const PAGE = "docs/get-started.md";

/** A request to paste, the link of the console and the page to read next. */
export function nextSteps({ address, link, model, key }: FirstRequest): string {
  const call = model === null
    ? `  curl ${address}${CALLER_ENDPOINTS.listModels.path} -H "Authorization: Bearer $${CALLER_KEY}"`
    : `  curl ${address}${CALLER_ENDPOINTS.createChatCompletion.path} -H "Authorization: Bearer $${CALLER_KEY}" \\
    -H "Content-Type: application/json" \\
    -d '{"model":"${model}","messages":[{"role":"user","content":"Say hello"}]}'`;
  return `
${model === null ? "List the models" : "Make a first request"}; paste this into another terminal:

  export ${CALLER_KEY}=${key}
${call}

${
    link === null
      ? `Open the console: ${address}${CONSOLE_ROOT}`
      : `Open the console with this link, which signs you in once within 15 minutes: ${link}`
  }
Clients, more keys and limits: ${PAGE}, or ${address}/docs
`;
}

/** The id of the model with the lowest prices that answers with text; null if there is none with a price. */
export function cheapestTextModel(models: readonly Model[]): string | null {
  const costs = models.filter(isTextModel).map(({ id, pricing }) => {
    return { id, cost: Number(pricing.prompt ?? NaN) + Number(pricing.completion ?? NaN) };
  });
  const priced = costs.filter(({ cost }) => cost > 0).sort((one, other) => one.cost - other.cost);
  return (priced[0] ?? costs[0])?.id ?? null;
}

function isTextModel({ architecture: { inputModalities, outputModalities } }: Model): boolean {
  return outputModalities.length === 1 && outputModalities[0] === "text" && inputModalities.includes("text");
}

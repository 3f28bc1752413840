import type { EndpointPaths } from "../shared/endpoint_paths.ts";

/** The endpoints that each deployment has. Others take its name in the body. */
const OF_DEPLOYMENTS: ReadonlySet<string> = new Set([
  "/chat/completions",
  "/embeddings",
  "/images/generations",
  "/images/edits",
  "/audio/speech",
  "/audio/transcriptions",
  "/audio/translations",
]);

/**
 * The paths of Azure OpenAI's dated API, in which the name of the model is that of a deployment. Source: Azure OpenAI
 * REST API reference, "Data plane inference"; `AzureOpenAI` of OpenAI's client.
 *
 * @param apiVersion Such as `2024-10-21`.
 */
export function deploymentPaths(apiVersion: string): EndpointPaths {
  const query = `?api-version=${apiVersion}`;
  return (endpoint, model) =>
    OF_DEPLOYMENTS.has(endpoint)
      ? `/deployments/${encodeURIComponent(model)}${endpoint}${query}`
      : `${endpoint}${query}`;
}

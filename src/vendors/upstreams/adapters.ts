import { Late } from "../../platform/lib/process/late.ts";
import type { ProviderKind } from "./kinds.ts";
import type { UpstreamKind } from "./contract/upstream.ts";

/** The adapters of the kinds. One is loaded for a configured provider only, so that the others take no memory. */
const ADAPTERS: Readonly<Record<ProviderKind, Late<UpstreamKind>>> = {
  openai: new Late(async () => (await import("./openai/mod.ts")).openai),
  anthropic: new Late(async () => (await import("./anthropic/mod.ts")).anthropic),
  google: new Late(async () => (await import("./google/mod.ts")).google),
  ark: new Late(async () => (await import("./ark/mod.ts")).ark),
  xai: new Late(async () => (await import("./xai/mod.ts")).xai),
  minimax: new Late(async () => (await import("./minimax/mod.ts")).minimax),
  fal: new Late(async () => (await import("./fal/mod.ts")).fal),
  bfl: new Late(async () => (await import("./bfl/mod.ts")).bfl),
  kling: new Late(async () => (await import("./kling/mod.ts")).kling),
  alibaba: new Late(async () => (await import("./alibaba/mod.ts")).alibaba),
  replicate: new Late(async () => (await import("./replicate/mod.ts")).replicate),
  runway: new Late(async () => (await import("./runway/mod.ts")).runway),
  vidu: new Late(async () => (await import("./vidu/mod.ts")).vidu),
  luma: new Late(async () => (await import("./luma/mod.ts")).luma),
  "dream-machine": new Late(async () => (await import("./luma/mod.ts")).dreamMachine),
  pika: new Late(async () => (await import("./pika/mod.ts")).pika),
  vertex: new Late(async () => (await import("./vertex/mod.ts")).vertex),
  bedrock: new Late(async () => (await import("./bedrock/mod.ts")).bedrock),
};

/** Loads the adapter of a kind. */
export function loadKind(name: ProviderKind): Promise<UpstreamKind> {
  return ADAPTERS[name].load();
}

const deployments = new Late(() => Promise.all([import("./openai/mod.ts"), import("./azure/deployment_paths.ts")]));

/** Loads the adapter of Azure OpenAI's dated API. */
export async function loadDeployments(apiVersion: string): Promise<UpstreamKind> {
  const [{ openaiWithPaths }, { deploymentPaths }] = await deployments.load();
  return openaiWithPaths(deploymentPaths(apiVersion));
}

import type { ProviderKind } from "./kinds.ts";

/** The base URL of each kind's own vendor. */
export const BASE_URLS: Readonly<Record<ProviderKind, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com",
  google: "https://generativelanguage.googleapis.com",
  ark: "https://ark.ap-southeast.bytepluses.com/api/v3",
  xai: "https://api.x.ai/v1",
  minimax: "https://api.minimax.io",
  fal: "https://queue.fal.run",
  bfl: "https://api.bfl.ai/v1",
  kling: "https://api-singapore.klingai.com",
  alibaba: "https://dashscope-intl.aliyuncs.com",
  replicate: "https://api.replicate.com/v1",
  runway: "https://api.dev.runwayml.com",
  vertex: "https://aiplatform.googleapis.com",
  bedrock: "https://bedrock-runtime.us-east-1.amazonaws.com",
};

import { assertEquals } from "@std/assert";
import { ENDPOINT_NAMES, endpointAt, isOpenEndpoint } from "../../src/limits/endpoint_name.ts";

const PATHS: Readonly<Record<string, string | null>> = {
  "/v1/chat/completions": "chat_completions",
  "/v1/chat/completions/": "chat_completions",
  "/v1/responses": "responses",
  "/msgcompat/v1/messages": "messages",
  "/msgcompat/v1/messages/count_tokens": "count_tokens",
  "/gencompat/v1beta/models/openai/gpt-6:generateContent": "generate_content",
  "/gencompat/v1/openai%2Fgpt-6:streamGenerateContent": "generate_content",
  "/gencompat/v1beta/models/cachedContents:countTokens": "count_tokens",
  "/gencompat/v1beta/cachedContents": "cached_contents",
  "/gencompat/v1/cachedContents/7": "cached_contents",
  "/v1/images/edits": "images",
  "/v1/videos": "videos",
  "/v1/videos/7/content": "videos",
  "/v1/embeddings": "embeddings",
  "/v1/moderations": "moderations",
  "/v1/rerank": "rerank",
  "/v1/audio/speech": "audio",
  "/gencompat/v1beta/models/openai/vectors:embedContent": "embeddings",
  "/gencompat/v1/vectors:batchEmbedContents/": "embeddings",
  "/v1/videosphere": null,
  "/v1/unknown": null,
};

Deno.test("endpointAt() names the endpoint of a path, and every endpoint has a path", () => {
  for (const [path, name] of Object.entries(PATHS)) assertEquals(endpointAt(path), name, path);
  assertEquals(new Set(Object.values(PATHS).filter((name) => name !== null)), new Set<string>(ENDPOINT_NAMES));
});

Deno.test("isOpenEndpoint() is true for lists of models and the key's own facts, and false for every other path", () => {
  for (
    const path of [
      "/v1/models",
      "/v1/models/openai/gpt-6",
      "/v1/videos/models",
      "/v1/key",
      "/v1/credits",
      "/v1/usage",
      "/v1/requests/req_1",
    ]
  ) {
    assertEquals(isOpenEndpoint(path), true, path);
  }
  for (const path of [...Object.keys(PATHS), "/gencompat/v1/models/x:embedContent", "/v1/keys"]) {
    assertEquals(isOpenEndpoint(path), false, path);
  }
});

import { assertEquals } from "@std/assert";
import { builtInModels } from "../../src/vendors/catalog/built_in.ts";

import { madeBy, type ProviderKind } from "../../src/vendors/upstreams/kinds.ts";
import { BUILT_IN_VENDORS, VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { problemsOf } from "./support.ts";

const PROVIDERS = `
providers:
  words: { kind: anthropic, api_key: k }
  google: { kind: google, api_key: k }
  kling: { kind: kling, api_key: k, secret_key: s }
  dated: { kind: azure, base_url: "https://a.openai.azure.com", api_key: k, api_version: 2024-10-21 }
`;

const VIDEO = 'video: { modes: [text2video], price_per_second: { 720p: "0.1" } }';

function modelOf(section: string, ...providers: string[]): string {
  return `${PROVIDERS}
models:
  - id: a/b
    ${section === VIDEO ? "" : "pricing: free"}
    ${section}
    serves: [${providers.map((provider) => `{ provider: ${provider} }`).join(", ")}]
`;
}

for (
  const [section, provider, path, expected, kind] of [
    [VIDEO, "words", "video", "makes videos", "anthropic"],
    [VIDEO, "dated", "video", "makes videos", "openai"],
    ["image: { series: default }", "kling", "image", "makes images", "kling"],
    ["image: { series: default, edits: true }", "google", "image.edits", "edits images", "google"],
    ["embedding: {}", "kling", "embedding", "makes embeddings", "kling"],
    ["speech: {}", "words", "speech", "speaks", "anthropic"],
  ] as const
) {
  Deno.test(`a model with ${path} at a provider of kind ${kind} alone stops the start`, () => {
    const problems = problemsOf(modelOf(section, provider));
    assertEquals(problems, [
      `switchyard.yaml: models[0].${path}: expected a provider that ${expected}, got only kind ${kind}`,
    ]);
  });
}

Deno.test("a model that one of its providers makes is accepted", () => {
  assertEquals(problemsOf(modelOf(VIDEO, "words", "kling")), []);
  assertEquals(problemsOf(modelOf("image: { series: multimodal }", "google")), []);
});

Deno.test("every built-in model is one that the adapter of its vendor makes", () => {
  // The provider of Vertex AI needs a project, so that no variable enables it.
  const kinds = new Map([
    ...BUILT_IN_VENDORS.map((name) => [name, VENDORS[name].kind] as const),
    ["vertex", "vertex"] as const,
  ].map(([name, kind]): [string, ProviderKind] => [name, kind]));
  for (const { id, serves, image, video, ...sections } of builtInModels(new Set(kinds.keys()))) {
    const made = serves.flatMap(({ provider }) => madeBy(kinds.get(provider)!));
    const claims = {
      image: image !== null,
      edits: image?.edits === true,
      video: video !== null,
      embedding: sections.embedding !== undefined,
      moderation: sections.moderation !== undefined,
      rerank: sections.rerank !== undefined,
      speech: sections.speech !== undefined,
      transcription: sections.transcription !== undefined,
    } as const;
    const unmade = Object.entries(claims).filter(([name, isClaimed]) =>
      isClaimed && !made.some((each) => each === name)
    );
    assertEquals([id, unmade], [id, []]);
  }
});

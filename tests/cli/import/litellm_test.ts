import { assert, assertEquals } from "@std/assert";
import { importLitellm } from "../../../src/entry/cli/import/litellm.ts";
import { LITELLM, LITERAL, written } from "../../support/imported.ts";

Deno.test("import litellm carries models, weights, limits, aliases, fallbacks and prices", () => {
  const result = importLitellm(LITELLM, "config.yaml");
  const { server, providers, models, aliases } = written(result);
  assertEquals(server, { admin_key: "${LITELLM_MASTER_KEY}" });
  assertEquals([...result.secrets], [["AZURE_API_KEY", LITERAL], ["LITELLM_MASTER_KEY", LITERAL]]);
  assertEquals(providers["openai-fast"], { kind: "openai", api_key: "${OPENAI_API_KEY}", rpm: 60 });
  assertEquals(providers.openai, { kind: "openai", api_key: "${OPENAI_API_KEY}" });
  assertEquals(providers.azure, {
    kind: "azure",
    base_url: "https://acme.openai.azure.com",
    api_key: "${AZURE_API_KEY}",
  });
  assertEquals(providers.ollama, { kind: "ollama", base_url: "http://gpu:11434/v1" });
  const byId = new Map(models.map((model: { id: string }) => [model.id, model]));
  assertEquals([...byId.keys()], [
    "openai/fast",
    "ollama/local",
    "team/large",
    "openai/vectors",
    "anthropic/*",
    "openai/*",
  ]);
  const fast = byId.get("openai/fast") as { fallbacks: string[]; serves: unknown[]; pricing: { prompt: string } };
  assertEquals(fast.serves, [
    { provider: "openai-fast", model: "gpt-5.4-mini", weight: 3 },
    { provider: "azure", model: "mini" },
  ]);
  assertEquals(fast.fallbacks, ["ollama/local"]);
  assert(Number(fast.pricing.prompt) > 0, "the price is built in");
  assertEquals(byId.get("team/large"), {
    id: "team/large",
    pricing: { prompt: "0.00000015", completion: "0.0000006" },
    pricing_tiers: { priority: { completion: "0.000001" } },
    serves: [{ provider: "groq", model: "openai/gpt-oss-120b" }],
  });
  assertEquals(byId.get("openai/vectors"), {
    id: "openai/vectors",
    context_length: 8_192,
    pricing: { prompt: "0.00000002", overrides: [{ batch: true, factor: "0.5" }] },
    embedding: { dimensions: 1_536 },
    serves: [{ provider: "openai", model: "text-embedding-3-small" }],
  });
  assertEquals(aliases, {
    fast: "openai/fast",
    local: "ollama/local",
    vectors: "openai/vectors",
    "*": "openai/*",
    "gpt-4": "openai/fast",
  });
});

Deno.test("import litellm names what it does not carry", () => {
  const { dropped } = importLitellm(LITELLM, "config.yaml");
  assertEquals(dropped.filter((line) => !line.includes("gpt-4")), [
    "model_list[3] (team/large): temperature has no counterpart",
    'model_list[5] (elsewhere): the vendor of "elevenlabs/scribe" is not one that is imported',
    "general_settings.database_url: keys, teams and budgets in LiteLLM's database are not read; create accounts and keys",
    "litellm_settings.drop_params: it has no counterpart",
    'the alias "lost": its model is not carried',
    'the fallback "elsewhere" of "openai/fast": that model is not carried',
  ]);
});

Deno.test("import litellm gives each deployment of a model a provider of its own", () => {
  const params = { api_base: "http://gpu:8000/v1", api_key: LITERAL };
  const { models, providers } = written(importLitellm({
    model_list: ["a", "b"].map((model) => ({
      model_name: "m",
      litellm_params: { model: `openai/${model}`, ...params },
    })),
  }, "config.yaml"));
  assertEquals(models[0].serves, [{ provider: "openai", model: "a" }, { provider: "openai-2", model: "b" }]);
  assertEquals(providers.openai, providers["openai-2"]);
});

/** Deployments by their names, as `model_list` has them. */
function modelList(deployments: Record<string, [params: Record<string, unknown>, info?: Record<string, unknown>]>) {
  return {
    model_list: Object.entries(deployments).map(([name, [params, info]]) => ({
      model_name: name,
      litellm_params: params,
      ...(info !== undefined && { model_info: info }),
    })),
  };
}

type Model = Record<string, unknown> & { readonly id: string; readonly serves: unknown[] };

/** Written models by their ids, without their providers. */
function fieldsById(models: readonly Model[]) {
  return Object.fromEntries(models.map(({ id, serves: _serves, ...fields }) => [id, fields]));
}

Deno.test("import litellm carries models of every mode that is served, with their sections and prices", () => {
  const result = importLitellm(
    modelList({
      vectors: [{ model: "mistral/mistral-embed" }, { mode: "embedding", input_cost_per_token: 1e-7 }],
      ranks: [{ model: "cohere/rerank-v3.5" }, { mode: "rerank", input_cost_per_query: 0.002 }],
      "own-ranks": [{ model: "cohere/rerank-v3.5", api_base: "https://cohere.example/v2/rerank", api_key: LITERAL }],
      "cohere-chat": [{ model: "cohere_chat/command-a" }, { input_cost_per_token: 2e-6 }],
      guard: [{ model: "openai/omni-moderation-latest" }],
      voice: [{ model: "groq/orpheus" }, { mode: "audio_speech", input_cost_per_character: 2e-5 }],
      scribe: [{ model: "groq/whisper-large-v3" }, { input_cost_per_second: 3e-5, output_cost_per_second: 0 }],
      painter: [{ model: "azure/pictures", api_base: "https://a.openai.azure.com", api_key: LITERAL }, {
        base_model: "azure/gpt-image-1",
        mode: "image_generation",
        input_cost_per_token: 5e-6,
        output_cost_per_image_token: 4e-5,
      }],
      nano: [{ model: "gemini/gemini-2.5-flash-image" }, { output_cost_per_image: 0.039 }],
      flux: [{ model: "fal_ai/fal-ai/flux/schnell" }],
      film: [{ model: "runwayml/gen4_turbo" }],
      "voyage-3": [{ model: "voyage/voyage-3" }, { output_vector_size: 1_024 }],
    }),
    "config.yaml",
  );
  const { models, providers, aliases } = written(result);
  const fields = fieldsById(models);
  assertEquals(fields["mistral/vectors"], { pricing: { prompt: "0.0000001" }, embedding: {} });
  assertEquals(fields["cohere/ranks"], { pricing: { search_unit: "0.002" }, rerank: {} });
  assertEquals(fields["cohere_chat/cohere-chat"], { pricing: { prompt: "0.000002" } });
  assertEquals(fields["openai/guard"]?.moderation, { max_inputs: 32 });
  assertEquals(fields["groq/voice"], { pricing: { character: "0.00002" }, speech: {} });
  assertEquals(fields["groq/scribe"], { pricing: { audio_second: "0.00003" }, transcription: {} });
  assertEquals(fields["azure/painter"], {
    pricing: { prompt: "0.000005", image_output: "0.00004" },
    image: { edits: true },
  });
  assertEquals(fields["gemini/nano"], { pricing: { per_image: "0.039" }, image: { series: "multimodal" } });
  assertEquals(fields["fal_ai/flux"]?.pricing, { per_image: "0.006" });
  assert(fields["runwayml/film"]?.video !== undefined, "the section of a video is built in");
  assertEquals(fields["voyage/voyage-3"], { pricing: "free", embedding: { dimensions: 1_024 } });
  const key = { kind: "openai", api_key: "${COHERE_API_KEY}" };
  assertEquals(providers.cohere_chat, { ...key, base_url: "https://api.cohere.ai/compatibility/v1" });
  assertEquals(providers["cohere-rerank"], { ...key, base_url: "https://api.cohere.com/v2" });
  assertEquals(providers["cohere-rerank-2"].base_url, "https://cohere.example/v2");
  assertEquals(providers.voyage.base_url, "https://api.voyageai.com/v1");
  assertEquals(Object.keys(aliases).length, models.length);
  assertEquals(result.dropped, [
    'the model "cohere/own-ranks": it has no price, so it is written as "pricing: free" until you replace that',
    'the model "voyage/voyage-3": it has no price, so it is written as "pricing: free" until you replace that',
  ]);
});

Deno.test("import litellm carries models at Vertex AI and Azure with their accounts", () => {
  const result = importLitellm(
    modelList({
      gemini: [{ model: "vertex_ai/gemini-2.5-pro", vertex_project: "os.environ/PROJECT", vertex_location: "global" }],
      claude: [{ model: "vertex_ai/claude-haiku-4-5@20251001", vertex_credentials: "/keys/google.json" }],
      inline: [{
        model: "vertex_ai/meta/llama-4-maas",
        vertex_project: "example",
        vertex_credentials: {
          type: "service_account",
          client_email: "a@b.example",
          private_key: `-----BEGIN PRIVATE KEY-----${LITERAL}`,
        },
      }],
      bare: [{ model: "gemini-2.5-flash" }],
      entra: [{
        model: "azure/mini",
        api_base: "https://a.openai.azure.com/openai/deployments/mini",
        tenant_id: "example.onmicrosoft.com",
        client_id: "11111111-2222-3333-4444-555555555555",
        client_secret: LITERAL,
        api_version: "2025-04-01-preview",
      }],
      dated: [{ model: "azure/mini", api_key: LITERAL, api_version: "os.environ/AZURE_API_VERSION" }],
      foundry: [{
        model: "azure_ai/DeepSeek-V3",
        api_base: "https://a.services.ai.azure.com/models",
        api_key: LITERAL,
      }],
      opus: [{ model: "azure_ai/claude-opus-5", api_base: "os.environ/FOUNDRY", api_key: "os.environ/FOUNDRY_KEY" }],
    }),
    "config.yaml",
  );
  const { models, providers } = written(result);
  assertEquals(models.length, 8);
  assertEquals(providers.vertex_ai, {
    kind: "vertex",
    project: "${PROJECT}",
    location: "global",
    service_account_file: "${GOOGLE_APPLICATION_CREDENTIALS}",
  });
  assertEquals(providers["vertex_ai-2"], {
    kind: "vertex",
    project: "${VERTEXAI_PROJECT}",
    location: "${VERTEXAI_LOCATION:-us-central1}",
    service_account_file: "/keys/google.json",
  });
  assertEquals(providers["vertex_ai-3"].service_account, "${VERTEX_CREDENTIALS}");
  assertEquals(models[3].serves, [{ provider: "vertex_ai-4", model: "gemini-2.5-flash" }]);
  assertEquals(providers.azure, {
    kind: "azure",
    base_url: "https://a.openai.azure.com",
    entra_id: {
      tenant: "example.onmicrosoft.com",
      client_id: "11111111-2222-3333-4444-555555555555",
      client_secret: "${AZURE_CLIENT_SECRET}",
    },
    api_version: "2025-04-01-preview",
  });
  assertEquals(providers["azure-2"].api_version, "${AZURE_API_VERSION}");
  assertEquals(providers.azure_ai, {
    kind: "azure",
    base_url: "https://a.services.ai.azure.com",
    api_key: "${AZURE_AI_API_KEY}",
  });
  assertEquals(providers["azure_ai-2"], {
    kind: "anthropic",
    base_url: "${FOUNDRY}/anthropic",
    api_key: "${FOUNDRY_KEY}",
  });
});

Deno.test("import litellm carries models at Bedrock with their region, key and format", () => {
  const arn = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc";
  const result = importLitellm(
    modelList(
      {
        claude: [{
          model: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
          aws_access_key_id: LITERAL,
          aws_secret_access_key: "os.environ/OUR_SECRET",
          aws_session_token: "os.environ/OUR_TOKEN",
          aws_region_name: "eu-west-1",
        }],
        nova: [{ model: "bedrock/converse/amazon.nova-pro-v1:0" }],
        regional: [{ model: "bedrock_converse/us-west-1/amazon.nova-lite-v1:0", api_key: LITERAL }],
        committed: [{ model: "bedrock/eu-central-1/6-month-commitment/anthropic.claude-v2" }],
        titan: [{
          model: "bedrock/amazon.titan-embed-text-v2:0",
          aws_region_name: "os.environ/OUR_REGION",
          aws_bedrock_runtime_endpoint: "https://vpce.example",
        }],
        profile: [{ model: `bedrock/${arn}` }, { base_model: "bedrock/us.anthropic.claude-sonnet-4-5" }],
      },
    ),
    "config.yaml",
  );
  const { models, providers } = written(result);
  const served = Object.fromEntries(
    models.map((model: { id: string; serves: unknown[] }) => [model.id, model.serves[0]]),
  );
  assertEquals(served, {
    "bedrock/claude": { provider: "bedrock", model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" },
    "bedrock/nova": { provider: "bedrock-2", model: "amazon.nova-pro-v1:0" },
    "bedrock_converse/regional": { provider: "bedrock_converse", model: "amazon.nova-lite-v1:0" },
    "bedrock/committed": { provider: "bedrock-3", model: "anthropic.claude-v2" },
    "bedrock/titan": { provider: "bedrock-4", model: "amazon.titan-embed-text-v2:0" },
    "bedrock/profile": { provider: "bedrock-2", model: `anthropic/${arn}` },
  });
  const environment = { api_key: "${AWS_ACCESS_KEY_ID}", secret_key: "${AWS_SECRET_ACCESS_KEY}" };
  assertEquals(providers, {
    bedrock: {
      kind: "bedrock",
      region: "eu-west-1",
      api_key: "${AWS_ACCESS_KEY_ID}",
      secret_key: "${OUR_SECRET}",
      session_token: "${OUR_TOKEN}",
    },
    "bedrock-2": { kind: "bedrock", region: "${AWS_REGION:-us-west-2}", ...environment },
    bedrock_converse: { kind: "bedrock", region: "us-west-1", api_key: "${AWS_BEARER_TOKEN_BEDROCK}" },
    "bedrock-3": { kind: "bedrock", region: "eu-central-1", ...environment },
    "bedrock-4": { kind: "bedrock", region: "${OUR_REGION}", base_url: "https://vpce.example", ...environment },
  });
  const titan = models.find(({ id }: { id: string }) => id === "bedrock/titan");
  assertEquals(titan.embedding, {});
});

Deno.test("import litellm names the models that the gateway cannot serve", () => {
  const { dropped, hasModels } = importLitellm(
    modelList({
      a: [{ model: "cohere/embed-v4.0" }, { mode: "realtime" }],
      b: [{ model: "vertex_ai/imagen-4" }],
      c: [{ model: "vertex_ai/mistral-large@2411" }],
      d: [{ model: "gemini/imagen-4" }],
      e: [{ model: "xai/grok-imagine-video-9" }],
      f: [{ model: "azure_ai/x", api_base: "https://x.eastus.models.ai.azure.com" }],
      g: [{ model: "azure/x", azure_ad_token: LITERAL }],
      h: [{ model: "azure/*" }],
      i: [{ model: "custom_openai/x" }],
      j: [{ model: "openai/gpt-3.5-turbo-instruct" }],
      k: [{ model: "elevenlabs/scribe" }],
      l: [{ model: "bedrock/agent/A/B" }],
      m: [{ model: "bedrock/amazon.nova-canvas-v1:0" }],
      n: [{ model: "bedrock/amazon.nova-2-multimodal-embeddings-v1:0" }],
      o: [{ model: "bedrock/amazon.nova-pro-v1:0", aws_role_name: "arn:aws:iam::1:role/x" }],
      p: [{ model: "bedrock/amazon.nova-pro-v1:0", aws_access_key_id: LITERAL }],
      q: [{ model: "bedrock/*" }],
    }),
    "config.yaml",
  );
  assertEquals(hasModels, false);
  assertEquals(dropped.map((line) => line.replace(/^model_list\[\d+\] /, "")), [
    "(a): mode realtime is not served",
    "(b): models for images are not served at vertex",
    "(c): models of this publisher are not served at Vertex AI",
    "(d): of Google's models for images, only Gemini is served",
    "(e): the modes and lengths of its videos are not in the source; add it by hand",
    "(f): its address is that of a single model, which has no v1 API",
    "(g): azure_ad_token: tokens end; use tenant_id, client_id and client_secret",
    '(h): the models of "*" at azure cannot be listed; add them by name',
    "(i): it has no api_base",
    '(j): "gpt-3.5-turbo-instruct" is not served',
    '(k): the vendor of "elevenlabs/scribe" is not one that is imported',
    '(l): the format of "agent/A/B" at Bedrock is not served',
    "(m): models for images are not served at bedrock",
    "(n): of the models for embeddings at Bedrock, only those of Titan and Cohere are served",
    "(o): aws_role_name: roles and profiles are not read; use an access key",
    "(p): it has an access key without its secret key, or the other way round",
    '(q): the models of "*" at bedrock cannot be listed; add them by name',
  ]);
});

Deno.test("import litellm makes no deployment wider than it was", () => {
  const result = importLitellm(
    modelList({
      none: [{ model: "openai/gpt-5.5", rpm: 0 }],
      many: [{ model: "openai/gpt-5.5", tpm: "many" }],
      capped: [{ model: "openai/gpt-5.5", max_budget: 5, budget_duration: "1d" }],
      variable: [{ model: "openai/gpt-5.5", rpm: "os.environ/RPM" }],
      "openai/*": [{ model: "openai/*", rpm: 5, max_parallel_requests: 2 }],
      team: [{ model: "openai/gpt-5.5" }, { team_id: "search" }],
      group: [{ model: "openai/gpt-5.5" }, { access_groups: ["beta"] }],
    }),
    "config.yaml",
  );
  const { models, providers } = written(result);
  assertEquals(models.map(({ id }: Model) => id), ["openai/variable", "openai/group", "openai/*"]);
  assertEquals(providers["openai-variable"].rpm, "${RPM}");
  assertEquals(providers.openai, { kind: "openai", api_key: "${OPENAI_API_KEY}", rpm: 5, concurrency: 2 });
  assertEquals(result.dropped, [
    "model_list[0] (none): rpm: expected a number from 1, so it is left out with its limit",
    "model_list[1] (many): tpm: expected a number from 1, so it is left out with its limit",
    "model_list[2] (capped): max_budget: a budget of a deployment has no counterpart, so it is left out with it",
    "model_list[5] (team): it belongs to one team; add it, and limit the keys that may use it",
    "model_list[6] (group): model_info.access_groups has no counterpart",
  ]);
});

Deno.test("import litellm keeps names apart that differ by the vendor in front", () => {
  const result = importLitellm(
    modelList({
      "gpt-5.5": [{ model: "openai/gpt-5.5", api_key: "os.environ/ONE" }],
      "openai/gpt-5.5": [{ model: "openai/gpt-5.5", api_key: "os.environ/OTHER" }],
    }),
    "config.yaml",
  );
  const { models, providers, aliases } = written(result);
  assertEquals(models.map(({ id }: Model) => id), ["openai/gpt-5.5-2", "openai/gpt-5.5"]);
  assertEquals(aliases, { "gpt-5.5": "openai/gpt-5.5-2" });
  const [{ provider }] = models[1].serves;
  assertEquals(providers[provider].api_key, "${OTHER}");
});

Deno.test("import litellm mixes no models of different uses", () => {
  const entries = ["text-embedding-3-small", "gpt-5.5"].map((model) => ({
    model_name: "m",
    litellm_params: { model: `openai/${model}` },
  }));
  const other = { model_name: "chat", litellm_params: { model: "openai/gpt-5.5" } };
  const result = importLitellm({
    model_list: [...entries, other],
    router_settings: { fallbacks: [{ chat: ["m"] }] },
  }, "config.yaml");
  const { models } = written(result);
  assertEquals(models.map(({ id, fallbacks }: Model) => [id, fallbacks]), [
    ["openai/m", undefined],
    ["openai/chat", undefined],
  ]);
  assertEquals(result.dropped, [
    'model_list[1] (m): it is not of the same use as the other deployments of "m"',
    'router_settings.fallbacks.chat: "m" is not of the same use',
  ]);
});

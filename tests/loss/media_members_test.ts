import { assertEquals } from "@std/assert";
import { toneFile } from "../../src/sandbox/tones.ts";
import { type EmbeddingGateway, embeddingModel, withEmbeddings } from "../embeddings/embedding_gateway.ts";
import { membersOf } from "../support/client_members.ts";
import { startVideoGateway, VALID_BODY } from "../support/video_gateway.ts";

/** Runs a test with a gateway in front of a vendor of OpenAI's format that answers audio to texts to speak. */
async function withStub(
  keep: (request: Request) => Promise<void>,
  test: (gateway: EmbeddingGateway) => Promise<void>,
): Promise<void> {
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    await keep(request);
    const reply = REPLIES[request.url.split("/").at(-1) ?? ""];
    if (reply !== undefined) return Response.json(reply);
    return new Response(toneFile("a"), { headers: { "content-type": "audio/wav" } });
  });
  const stub = { kind: "openai", base_url: `http://127.0.0.1:${server.addr.port}/v1`, api_key: "stub-key" };
  const models = [embeddingModel("stub/embedding-1", ["stub"]), ...MODELS];
  await withEmbeddings({ models, config: { providers: { stub }, models } }, test);
}

type Values = Readonly<Record<string, readonly unknown[]>>;

const EMBEDDING: Values = { dimensions: [1, 256], encoding_format: ["float", "base64"], user: ["caller-1"] };
const SPEECH: Values = {
  instructions: ["softly"],
  response_format: ["wav", "mp3"],
  speed: [0.25, 4],
  stream_format: ["audio"],
};
const RERANK: Values = { top_n: [1], max_tokens_per_doc: [1, 512], priority: [0, 9] };

/** The JSON endpoints whose members are sent by their own names. */
const ENDPOINTS = [
  {
    path: "/v1/embeddings",
    type: ["openai/resources/embeddings", "EmbeddingCreateParams"],
    body: { model: "stub/embedding-1", input: "a" },
    values: EMBEDDING,
    // `base64` is what the gateway asks its vendors for; the caller gets what it asked for.
    byGateway: ["encoding_format"],
  },
  {
    path: "/v1/moderations",
    type: ["openai/resources/moderations", "ModerationCreateParams"],
    body: { model: "stub/moderation-1", input: "a" },
    values: {},
    byGateway: [],
  },
  {
    path: "/v1/audio/speech",
    type: ["openai/resources/audio/speech", "SpeechCreateParams"],
    body: { model: "stub/speech-1", input: "a", voice: "alloy" },
    values: SPEECH,
    // Without it, a vendor sends audio.
    byGateway: ["stream_format"],
  },
  {
    path: "/v1/rerank",
    type: null,
    body: { model: "stub/rerank-1", query: "a", documents: ["a", "b"] },
    values: RERANK,
    byGateway: [],
  },
] as const;

const MODELS = [
  { id: "stub/moderation-1", pricing: { request: "0.00001" }, moderation: {}, serves: [{ provider: "stub" }] },
  { id: "stub/speech-1", pricing: { character: "0.00001" }, speech: {}, serves: [{ provider: "stub" }] },
  { id: "stub/rerank-1", pricing: { search_unit: "0.001" }, rerank: {}, serves: [{ provider: "stub" }] },
  {
    id: "stub/transcription-1",
    pricing: { audio_second: "0.0001" },
    transcription: { translates: true },
    serves: [{ provider: "stub" }],
  },
];

/** What a vendor with OpenAI's format answers, by the end of the path. */
const REPLIES: Readonly<Record<string, unknown>> = {
  embeddings: { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } },
  moderations: { results: [{ flagged: false, categories: {}, category_scores: {} }] },
  rerank: { results: [{ index: 0, relevance_score: 1 }, { index: 1, relevance_score: 0 }] },
  transcriptions: { text: "a" },
  translations: { text: "a" },
};

Deno.test("every member of the client's request is sent with its value, 0 too, or named as dropped", async () => {
  let sent: Record<string, unknown> = {};
  const keep = async (request: Request) => void (sent = await request.json());
  await withStub(keep, async (gateway) => {
    for (const { path, type, body, values, byGateway } of ENDPOINTS) {
      if (type !== null) {
        const known = [...Object.keys(body), ...Object.keys(values)].sort();
        assertEquals(await membersOf(type[0], type[1]), known, `${type[1]} has other members than this test`);
      }
      for (const [name, each] of [...Object.entries(values), ["no_such_field", [0, false]]] as [string, unknown[]][]) {
        for (const value of each) {
          const answer = await gateway.post(path, { ...body, [name]: value });
          const text = await answer.text();
          assertEquals(answer.status, 200, `${path} ${name}: ${text}`);
          const dropped = (answer.headers.get("x-service-dropped") ?? "").split(", ").includes(name);
          if ((byGateway as readonly string[]).includes(name)) assertEquals([path, name, dropped], [path, name, false]);
          else assertEquals([path, name, value, (sent[name] === value) !== dropped], [path, name, value, true]);
        }
      }
    }
  });
});

/** The members of both forms of audio, with values as text. `stream` and `file` have tests of their own. */
const TRANSCRIPTION: Values = {
  chunking_strategy: ["auto"],
  "include[]": ["logprobs"],
  "keywords[]": ["fox"],
  "known_speaker_names[]": ["Ann"],
  "known_speaker_references[]": ["data:audio/wav;base64,AAAA"],
  language: ["en"],
  "languages[]": ["en"],
  prompt: ["a fox"],
  response_format: ["json"],
  temperature: ["0", "0.5"],
  "timestamp_granularities[]": ["word"],
  no_such_field: ["0"],
};

for (
  const [path, type] of [
    ["transcriptions", ["openai/resources/audio/transcriptions", "TranscriptionCreateParams"]],
    ["translations", ["openai/resources/audio/translations", "TranslationCreateParams"]],
  ] as const
) {
  Deno.test(`every member of the client's ${path} is sent, or named as dropped`, async () => {
    const members = new Set(Object.keys(TRANSCRIPTION).map((name) => name.replace("[]", "")));
    const unknown = (await membersOf(type[0], type[1])).filter((name) =>
      !members.has(name) && !["file", "model", "stream"].includes(name)
    );
    assertEquals(unknown, []);
    let sent = new FormData();
    const keep = async (request: Request) => void (sent = await request.formData());
    await withStub(keep, async ({ address, key }) => {
      for (const [name, values] of Object.entries(TRANSCRIPTION)) {
        for (const value of values) {
          const form = new FormData();
          form.set("model", "stub/transcription-1");
          form.set("file", new Blob([toneFile("a")]), "a.wav");
          form.set(name, String(value));
          const headers = { authorization: `Bearer ${key}` };
          const answer = await fetch(`${address}/v1/audio/${path}`, { method: "POST", headers, body: form });
          const text = await answer.text();
          assertEquals(answer.status, 200, `${name}: ${text}`);
          const dropped = (answer.headers.get("x-service-dropped") ?? "").split(", ").includes(name);
          assertEquals([name, value, (sent.get(name) === value) !== dropped], [name, value, true]);
        }
      }
    });
  });
}

/** The members of both clients' creates of videos that this gateway's own creates do not have. */
const OTHERS: Values = {
  creativity: [0],
  previous_job_id: ["job-1"],
  session_id: ["session-1"],
  trace: [{}],
  upscale_factor: [2],
  user: ["caller-1"],
  no_such_field: [0, false],
};

/** Those that it has, which other tests follow to the vendors. */
const OWN = [
  ...["model", "prompt", "duration", "seconds", "resolution", "aspect_ratio", "size", "frame_images", "seed"],
  ...["input_references", "input_reference", "generate_audio", "callback_url", "provider"],
];

Deno.test("every member of the clients' creates of videos is read, or named as dropped, also in a dry run", async () => {
  const members = [
    ...await membersOf("openai/resources/videos", "VideoCreateParams"),
    ...await membersOf("@openrouter/sdk/models/videogenerationrequest", "VideoGenerationRequest"),
  ];
  const known = new Set([...OWN, ...Object.keys(OTHERS)]);
  assertEquals(members.filter((name) => !known.has(name)), []);
  const gateway = await startVideoGateway();
  try {
    for (const [name, values] of Object.entries(OTHERS)) {
      for (const value of values) {
        for (const more of [{}, { "x-service-dry-run": "true" }]) {
          const headers = { authorization: `Bearer ${gateway.key}`, ...more };
          const made = await gateway.call("POST", "/v1/videos", { ...VALID_BODY, [name]: value }, headers);
          const dropped = made.headers.get("x-service-dropped");
          assertEquals([name, value, made.status < 300, dropped], [name, value, true, name], made.text);
        }
      }
    }
  } finally {
    await gateway.stop();
  }
});

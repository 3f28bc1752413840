import { assert, assertEquals } from "@std/assert";
import { basename } from "node:path";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { toneFile } from "../../src/sandbox/tones.ts";
import { embeddingModel } from "../embeddings/embedding_gateway.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { present } from "../support/items.ts";
import { namesIn, RECORDINGS } from "../support/recordings.ts";

/** One recorded exchange with a vendor. */
interface Exchange {
  readonly name: string;
  readonly request: { readonly host: string; readonly path: string; readonly body: JsonObject };
  readonly response: { readonly status: number; readonly body?: JsonObject; readonly text?: string };
}

/** Of the sandbox's recordings. */
const WORDS_PER_SECOND = 5;
const ABSENT = RECORDINGS === null ? " (needs recordings of real vendors)" : "";
const PROJECT = /^\/v1beta1\/projects\/([^/]+)\/locations\/([^/]+)\/publishers\/google\/models\/([^/:]+):(\w+)/;

function exchangesIn(folder: string): Exchange[] {
  return namesIn(`${RECORDINGS}/${folder}`).flatMap((name) =>
    JSON.parse(Deno.readTextFileSync(`${RECORDINGS}/${folder}/${name}`)).exchanges
      .map((exchange: Omit<Exchange, "name">) => ({ name: basename(name, ".json"), ...exchange }))
  );
}

function recorded(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `recorded calls: ${name}${ABSENT}`, ignore: RECORDINGS === null, fn });
}

/** A vendor that repeats one recorded response, and a gateway in front of it. */
async function withReplay(
  response: Exchange["response"],
  provider: Record<string, unknown>,
  models: readonly unknown[],
  run: (gateway: TestGateway, seen: readonly { readonly path: string; readonly text: string }[]) => Promise<void>,
): Promise<void> {
  const seen: { path: string; text: string }[] = [];
  await using vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    seen.push({ path: pathname + search, text: await request.text() });
    const isStream = response.text !== undefined;
    return new Response(response.text ?? JSON.stringify(response.body), {
      status: response.status,
      headers: { "content-type": isStream ? "text/event-stream" : "application/json" },
    });
  });
  const base = String(provider.base_url ?? "");
  // The default folder is that of all tests: another gateway that starts removes the uploads in it.
  const files = await Deno.makeTempDir();
  const gateway = await startTestGateway({
    config: {
      files,
      providers: { replay: { ...provider, base_url: `http://127.0.0.1:${vendor.addr.port}${base}` } },
      models,
    },
  });
  try {
    await run(gateway, seen);
  } finally {
    await gateway.stop();
    await Deno.remove(files, { recursive: true });
  }
}

const post = (gateway: TestGateway, path: string, body: BodyInit) =>
  fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "x-goog-api-key": gateway.key,
      ...typeof body === "string" && { "content-type": "application/json" },
    },
    body,
  });

/** Media by address are another vendor's or account's, and pictures need an image model. */
function isText({ request }: Exchange): boolean {
  return !/fileData|inlineData|"IMAGE"/.test(JSON.stringify(request.body));
}

recorded("vertex: Gemini's calls at Vertex AI go out as they were recorded, and their replies come back", async () => {
  const all = exchangesIn("google/exchanges").filter(({ request: { host } }) => /aiplatform\./.test(host));
  let checked = 0;
  for (const exchange of all.filter(isText)) {
    const { request: { path, body }, response, name } = exchange;
    const [, project = "", location = "", model = "", method = ""] = PROJECT.exec(path) ?? [];
    if (method === "embedContent") continue; // kind google
    const provider = { kind: "vertex", project, location, api_key: "k" };
    const pricing = { prompt: "0.000001", completion: "0.000002", web_search: "0.01" };
    const models = [{ ...textModel("vertex/m", []), pricing, serves: [{ provider: "replay", model }] }];
    await withReplay(response, provider, models, async (gateway, seen) => {
      const query = path.includes("alt=sse") ? "?alt=sse" : "";
      const answer = await post(gateway, `/gencompat/v1beta/models/vertex/m:${method}${query}`, JSON.stringify(body));
      const text = await answer.text();
      assertEquals(answer.status, response.status, `${name}: ${text}`);
      assertEquals(seen.map((each) => each.path), [path], name);
      if (method !== "countTokens") assertEquals(JSON.parse(present(seen[0], name).text), body, name);
      const usage = (JSON.stringify(response.body) ?? response.text).match(/"totalTokens?(?:Count)?": ?(\d+)/g)?.at(-1);
      assert(text.replaceAll(" ", "").includes(present(usage, name).replaceAll(" ", "")), `${name}: ${text}`);
    });
    checked++;
  }
  assert(checked >= 7, `${checked} calls`);
});

recorded("google: vectors of embedContent are returned as the vendor sent them", async () => {
  const found = exchangesIn("google/exchanges").filter(({ request: { path } }) => path.endsWith(":embedContent"));
  assert(found.length > 0);
  for (const { request, response, name } of found) {
    const models = [embeddingModel("replay/e", [], { serves: [{ provider: "replay", model: "gemini-embedding-2" }] })];
    // A single content is sent as a batch of one.
    const { embedding: vector, ...others } = present(response.body, name);
    const batch = { status: 200, body: { embeddings: [vector], ...others } };
    await withReplay(batch, { kind: "google", api_key: "k" }, models, async (gateway, seen) => {
      const answer = await post(
        gateway,
        "/gencompat/v1beta/models/replay/e:embedContent",
        JSON.stringify(request.body),
      );
      const { embedding } = await answer.json();
      assertEquals(answer.status, 200, name);
      assertEquals(embedding, vector, name);
      assertEquals(JSON.parse(present(seen[0], name).text).requests[0].content, request.body.content, name);
      // Read by the other face, too.
      const other = await post(gateway, "/v1/embeddings", JSON.stringify({ model: "replay/e", input: "Hello" }));
      assertEquals((await other.json()).data[0].embedding.length, embedding.values.length, name);
    });
  }
});

recorded("openai: a refused embedding is the vendor's error and costs nothing", async () => {
  const found = exchangesIn("openai-other/exchanges").filter(({ request: { path } }) => path === "/v1/embeddings");
  assert(found.length > 0);
  for (const { request, response, name } of found) {
    const models = [embeddingModel("replay/e", [], { serves: [{ provider: "replay", model: request.body.model }] })];
    const provider = { kind: "openai", base_url: "/v1", api_key: "k" };
    await withReplay(response, provider, models, async (gateway, seen) => {
      const answer = await post(gateway, "/v1/embeddings", JSON.stringify({ ...request.body, model: "replay/e" }));
      const { error } = await answer.json();
      assertEquals([answer.status, answer.headers.get("x-service-cost")], [response.status, null], name);
      assertEquals(error.message, (response.body?.error as { message: string }).message, name);
      const sent = JSON.parse(present(seen[0], name).text);
      assertEquals({ ...sent, input: [sent.input].flat() }, request.body, name);
    });
  }
});

recorded("openai: a transcript with words and times is returned as it came, and charged by its seconds", async () => {
  const body = JSON.parse(Deno.readTextFileSync(`${RECORDINGS}/openai-other/openai-transcription.json`));
  const models = [{
    id: "replay/scribe",
    pricing: { audio_second: "0.0001" },
    transcription: {},
    serves: [{ provider: "replay", model: "whisper-1" }],
  }];
  const provider = { kind: "openai", base_url: "/v1", api_key: "k" };
  await withReplay({ status: 200, body }, provider, models, async (gateway, seen) => {
    const form = new FormData();
    form.append("model", "replay/scribe");
    form.append("response_format", "verbose_json");
    form.append("timestamp_granularities[]", "word");
    form.append(
      "file",
      new Blob([toneFile("word ".repeat(Math.round(body.duration * WORDS_PER_SECOND)))]),
      "speech.wav",
    );
    const answer = await post(gateway, "/v1/audio/transcriptions", form);
    assertEquals([answer.status, await answer.json()], [200, body]);
    assertEquals(Number(answer.headers.get("x-service-cost")), Math.round(body.usage.seconds) / 10_000);
    assertEquals(seen.map(({ path }) => path), ["/v1/audio/transcriptions"]);
  });
});

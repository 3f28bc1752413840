import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import OpenAI, { APIError, toFile } from "openai";
import { imageFile, imageModel } from "../images/image_gateway.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { present } from "../support/items.ts";
import { stateOf } from "../support/patience.ts";
import { startVideoGateway, type VideoGateway } from "../support/video_gateway.ts";
import { silentWav } from "../support/wav.ts";

/** Stored files in requests for videos and for edits of images. */

const PNG = await imageFile();
const MODEL = "sandbox/video-1";
const PROMPT = "It comes alive [[queue 0]] [[run 0]]";
const EDIT = { model: "sandbox/painter-1", prompt: "a hat", quality: "low" };

interface Stage extends VideoGateway {
  readonly client: OpenAI;
  /** Stores a file with the key of the account and returns its id. */
  store(bytes: Uint8Array, name: string): Promise<string>;
  /** What the vendor of videos was sent last, as text. */
  orderedVideo(): string;
}

async function withGateway(isolates: number, use: (stage: Stage) => Promise<void>): Promise<void> {
  const painter = imageModel(EDIT.model, { edits: true }, []);
  const gateway = await startVideoGateway({
    config: { server: { port: 0, shutdown_grace: 1, isolates } },
    added: {
      providers: {},
      models: [{ ...painter, serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }] }],
    },
  });
  try {
    const client = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: gateway.key, maxRetries: 0 });
    await use({
      ...gateway,
      client,
      store: async (bytes, name) =>
        (await client.files.create({ file: await toFile(bytes, name), purpose: "vision" })).id,
      orderedVideo: () => JSON.stringify(present(gateway.created().at(-1), "create at the vendor").body),
    });
  } finally {
    await gateway.stop();
  }
}

const ended = (client: OpenAI, id: string) =>
  stateOf("the video has ended", () => client.videos.retrieve(id), ({ status }) => !/queued|progress/.test(status));

for (const isolates of [1, 2]) {
  Deno.test(`media files: client.videos begins with a stored file, which may be deleted then, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ client, store, call, orderedVideo, filesFolder }) => {
      const id = await store(PNG, "first.png");
      const video = await client.videos.create({ model: MODEL, prompt: PROMPT, input_reference: { file_id: id } });
      await client.files.delete(id);
      assertEquals((await ended(client, video.id)).status, "completed");
      assertStringIncludes(orderedVideo(), PNG.toBase64());
      assert(!orderedVideo().includes("file-"), "no vendor gets the id");

      // As JSON, with the names of the other protocols, and in the fields of the gateway.
      const last = await store(PNG, "last.png");
      const frames = [id, last].map((file_id, index) => ({
        type: "image_url",
        image_url: { file_id },
        frame_type: index === 0 ? "first_frame" : "last_frame",
      }));
      const gone = await call("POST", "/v1/videos", { model: MODEL, prompt: PROMPT, frame_images: frames });
      assertEquals([gone.status, gone.json.error.code], [404, "not_found"]);
      assertStringIncludes(gone.json.error.message, '"frame_images[0].image_url.file_id"');
      const references = [last, last.replace("file-", "files/")].map((file_id) => ({
        type: "image_url",
        image_url: { file_id },
      }));
      const prepared = { model: MODEL, prompt: PROMPT, input_references: references, real_person: true };
      const made = await call("POST", "/v1/videos", prepared);
      assertEquals(made.status, 202, made.text);
      assertEquals((await ended(client, made.json.id)).status, "completed");
      const trial = await call("POST", "/v1/videos", {
        model: MODEL,
        prompt: PROMPT,
        input_reference: { file_id: last },
      }, {
        "x-service-dry-run": "true",
      });
      assertEquals([trial.status, trial.json.mode], [200, "img2video"]);
      const left = Array.from(Deno.readDirSync(filesFolder), ({ name }) => name).filter((name) =>
        name.includes("-in-")
      );
      assertEquals(left, [], "no copy is left");
    });
  });

  Deno.test(`media files: an edit of images has stored files, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ call, store, sandbox }) => {
      const id = await store(PNG, "a.png");
      const body = { ...EDIT, images: [{ file_id: id }, { image_url: PNG.toBase64() }], mask: { file_id: id } };
      const answer = await call("POST", "/v1/images/edits", body);
      assertEquals([answer.status, answer.json.usage?.num_input_images], [200, 2], answer.text.slice(0, 300));
      assertEquals(present(sandbox.requests.at(-1), "edit at the vendor").path, "/openai/v1/images/edits");
    });
  });

  Deno.test(`media files: files of others, of other types and of other sizes are refused, with ${isolates} threads`, async () => {
    await withGateway(isolates, async ({ address, otherKey, client, call, store, sandbox }) => {
      const other = callerOf(address, { authorization: `Bearer ${otherKey}` });
      const [image, text, empty, large] = await Promise.all([
        store(PNG, "a.png"),
        store(new TextEncoder().encode("no image"), "a.txt"),
        store(new Uint8Array(0), "b.png"),
        store(new Uint8Array(30_000_001), "c.png"),
      ]);
      const unknown = image.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
      const before = sandbox.requests.length;
      const refused: readonly [by: GatewayCall, file: unknown, video: number, edit: number, why: string][] = [
        [other, image, 404, 404, "the key has no file with this id"],
        [call, unknown, 404, 404, "the key has no file with this id"],
        [call, "file-of-a-vendor", 404, 404, "the key has no file with this id"],
        [call, text, 400, 400, "expected"],
        [call, empty, 400, 400, "the file is empty"],
        [call, large, 413, 400, "at most"],
        [call, 5, 400, 400, "expected the id of a stored file"],
      ];
      for (const [by, file_id, video, edit, why] of refused) {
        const created = await by("POST", "/v1/videos", { model: MODEL, prompt: PROMPT, input_reference: { file_id } });
        const edited = await by("POST", "/v1/images/edits", { ...EDIT, images: [{ file_id }] });
        for (
          const [answer, status, field] of [[created, video, "input_reference"], [edited, edit, "images[0]"]] as const
        ) {
          assertEquals(answer.status, status, answer.text);
          assertStringIncludes(answer.json.error.message, `"${field}.file_id"`);
          assertStringIncludes(answer.json.error.message, why);
        }
      }
      const both = { file_id: image, image_url: PNG.toBase64() };
      const error = await assertRejects(
        () => client.videos.create({ model: MODEL, prompt: PROMPT, input_reference: both }),
        APIError,
      );
      assertEquals([error.status, error.message.includes('"input_reference.file_id"')], [400, true]);
      assertEquals(sandbox.requests.length, before, "nothing was sent to a vendor");
    });
  });
}

Deno.test("media files: a clip of sound is measured, and a video is a reference, too", async () => {
  await withGateway(1, async ({ client, call, store, created }) => {
    const [image, short, long] = [
      await store(PNG, "a.png"),
      await store(silentWav(2), "b.wav"),
      await store(silentWav(16), "c.wav"),
    ];
    const refer = (kind: "image" | "audio" | "video", file_id: string) => {
      const type = `${kind}_url`;
      return { type, [type]: { file_id } };
    };
    const send = (...input_references: unknown[]) =>
      call("POST", "/v1/videos", { model: MODEL, prompt: PROMPT, input_references });
    const made = await send(refer("image", image), refer("audio", short));
    assertEquals(made.status, 202, made.text);
    assertEquals((await ended(client, made.json.id)).status, "completed");
    assertStringIncludes(
      JSON.stringify(created().at(-1)?.body),
      silentWav(2).toBase64().slice(0, 1_000),
    );
    for (const [other, why] of [[long, "at most 15 seconds"], [image, "expected audio data"]] as const) {
      const refused = await send(refer("image", image), refer("audio", other));
      assertEquals(refused.status, 400);
      assertStringIncludes(refused.json.error.message, '"input_references[1].audio_url.file_id"');
      assertStringIncludes(refused.json.error.message, why);
    }
    const noVideo = await send(refer("image", image), refer("video", short));
    assertStringIncludes(noVideo.json.error.message, '"input_references[1].video_url.file_id"');
    const none = await send({ type: "image_url", image_url: { file_id: image, url: "https://example.com/a.png" } });
    assertStringIncludes(none.json.error.message, '"input_references[0].image_url.file_id": expected it without url');
  });
});

Deno.test("media files: lines of batches have stored files", async () => {
  await withGateway(1, async ({ client, call, store, orderedVideo }) => {
    const id = await store(PNG, "a.png");
    const bodies = {
      "/v1/videos": { model: MODEL, prompt: PROMPT, input_reference: { file_id: id } },
      "/v1/images/edits": { ...EDIT, images: [{ file_id: id }] },
    };
    for (const [endpoint, body] of Object.entries(bodies)) {
      const lines = [{ custom_id: "one", method: "POST", url: endpoint, body }];
      const input = await client.files.create({
        file: await toFile(new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join("\n")), "in.jsonl"),
        purpose: "batch",
      });
      const created = await client.batches.create({
        input_file_id: input.id,
        endpoint: endpoint as OpenAI.BatchCreateParams["endpoint"],
        completion_window: "24h",
      });
      assertEquals(created.errors ?? null, null, endpoint);
      const look = () => client.batches.retrieve(created.id);
      const batch = await stateOf("the batch has ended", look, ({ status }) => !/progress|finalizing/.test(status));
      assertEquals([batch.status, batch.request_counts?.completed], ["completed", 1], endpoint);
      const output = await client.files.content(present(batch.output_file_id, "output file"));
      assertEquals(JSON.parse(await output.text()).response.status_code, 200);
    }
    assertStringIncludes(orderedVideo(), PNG.toBase64());

    const missing = { ...bodies["/v1/videos"], input_reference: { file_id: id.replace(/.$/, "x") } };
    const { json } = await call("POST", "/v1/batches", {
      endpoint: "/v1/videos",
      requests: [{ custom_id: "one", body: missing }],
    });
    assertEquals([json.status, json.errors.data[0].param], ["failed", "input_reference.file_id"]);
    assertStringIncludes(json.errors.data[0].message, "the key has no file with this id");
  });
});

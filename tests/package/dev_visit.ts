import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import type { InstalledProgram, StartedGateway } from "./installed.ts";

/** Runs a test with a gateway, which has to stop without an error. */
export async function withGateway(
  { start }: InstalledProgram,
  args: readonly string[],
  run: (gateway: StartedGateway) => Promise<void>,
): Promise<void> {
  const gateway = await start(...args);
  let end: Awaited<ReturnType<StartedGateway["stop"]>> | null = null;
  try {
    await run(gateway);
  } finally {
    end = await gateway.stop();
  }
  assertEquals(end.code, 0, end.log);
  assertEquals(end.log.split("\n").filter((line) => /"level":"error"/.test(line)), []);
}

/**
 * Sends a request with the key of `dev`.
 *
 * @param folder The folder that it runs in.
 */
export async function send(
  { address }: StartedGateway,
  folder: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const key = await Deno.readTextFile(join(folder, "data", "dev-key")).catch(() => "");
  const response = await fetch(`${address}${path}`, {
    headers: { authorization: `Bearer ${key}`, "x-goog-api-key": key, "content-type": "application/json" },
    ...body !== undefined && { method: "POST", body: JSON.stringify(body) },
  });
  const bytes = await response.bytes();
  assert(response.ok, new TextDecoder().decode(bytes.subarray(0, 1_000)));
  return new Response(bytes, response);
}

const chatOf = (content: string) => ({ model: "sandbox/chat-1", messages: [{ role: "user", content }] });

/** Starts `dev`, and uses texts, pictures, videos and the console, so that every thread and every asset is needed. */
export async function visitDev(program: InstalledProgram): Promise<void> {
  await withGateway(program, ["dev"], async (gateway) => {
    const chat = await (await send(gateway, program.folder, "/v1/chat/completions", chatOf("hello"))).json();
    assertEquals(chat.choices[0].message.content, "You said: hello");
    // Above the size at which a thread handles the request.
    await send(gateway, program.folder, "/v1/chat/completions", chatOf("a".repeat(3_000_000)));
    const count = await send(gateway, program.folder, "/gencompat/v1beta/models/sandbox/chat-1:countTokens", {
      contents: [{ parts: [{ text: "hello world" }] }],
    });
    assertEquals((await count.json()).totalTokens, 2);
    const image = await send(gateway, program.folder, "/v1/images/generations", {
      model: "sandbox/image-1",
      prompt: "a lighthouse",
      quality: "low",
      output_format: "jpeg", // another format than the vendor's, so that the thread for media converts it
    });
    assertMatch((await image.json()).data[0].b64_json, /^\/9j\//);
    const { id } =
      await (await send(gateway, program.folder, "/v1/videos", { model: "sandbox/video-1", prompt: "a lighthouse" }))
        .json();
    const events = await (await send(gateway, program.folder, `/v1/videos/${id}/events`)).text();
    assertMatch(events, /"status":"completed"/);
    const { data } = await (await send(gateway, program.folder, "/v1/requests")).json();
    assert(data.length >= 5);
    const page = await (await send(gateway, program.folder, "/console")).text();
    const assets = [...page.matchAll(/\/console\/assets\/[\w.-]+/g)].map(([path]) => path);
    assert(assets.length >= 2);
    for (const path of assets) await send(gateway, program.folder, path);
    const list = await program.run("accounts", "list");
    assertEquals(JSON.parse(list.stdout).data.map(({ id }: { id: string }) => id), ["demo"]);
  });
}

import { assertEquals } from "@std/assert";
import { imageModel } from "../images/image_gateway.ts";
import { startTestGateway } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";
import type { Failure } from "./failing_thread.ts";

const ENTRY = new URL("./failing_thread.ts", import.meta.url);

Deno.test("isolates: the uploads of a thread that ended are removed while the gateway runs", async () => {
  const files = await Deno.makeTempDir({ prefix: "switchyard-uploads-" });
  const models = [imageModel("sandbox/image-1", { edits: true }, ["sandbox-openai"])];
  const gateway = await startTestGateway({ isolates: 2, isolateEntry: ENTRY, config: { models, files } });
  using channel = disposable(new BroadcastChannel("failing-isolates"));
  try {
    const left = new AbortController();
    const begun = `--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\n${"a".repeat(200_000)}`;
    const body = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(new TextEncoder().encode(begun)) });
    const answered = fetch(`${gateway.address}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "multipart/form-data; boundary=b" },
      body,
      signal: left.signal,
    }).catch(() => null);
    await stateOf("an upload is in a file", () => uploadsIn(`${files}/uploads`), ({ length }) => length === 1);
    channel.value.postMessage("exit" satisfies Failure);
    assertEquals(
      await stateOf("no upload is left", () => uploadsIn(`${files}/uploads`), ({ length }) => length === 0),
      [],
    );
    left.abort();
    await answered;
  } finally {
    await gateway.stop();
    await Deno.remove(files, { recursive: true });
  }
});

function uploadsIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory ? uploadsIn(`${folder}/${name}`) : [name]
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function disposable(value: BroadcastChannel): Disposable & { readonly value: BroadcastChannel } {
  return { value, [Symbol.dispose]: () => value.close() };
}

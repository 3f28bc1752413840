import { assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";

/** What every object inherits: no format, no window and no type of a file has these names. */
const NAMES = ["constructor", "__proto__", "toString"];

Deno.test("names that every object inherits are unknown values wherever a caller sends them", async () => {
  const gateway = await startTestGateway();
  const authorization = `Bearer ${gateway.key}`;
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${gateway.address}/v1${path}`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const chat = (model: string, part: unknown) =>
    post("/chat/completions", { model, messages: [{ role: "user", content: [part] }] });
  try {
    for (const name of NAMES) {
      const form = new FormData();
      form.set("purpose", "user_data");
      form.set("file", new File(["hello"], `notes.${name}`));
      const stored = await fetch(`${gateway.address}/v1/files`, {
        method: "POST",
        headers: { authorization },
        body: form,
      });
      const { id } = await stored.json();
      for (const model of ["sandbox/chat-1", "sandbox/messages-1"]) {
        const named = await chat(model, { type: "file", file: { file_id: id } });
        assertEquals([name, model, named.status, named.text.includes("internal_error")], [name, model, 200, false]);
      }
      const audio = await chat("sandbox/content-1", {
        type: "input_audio",
        input_audio: { data: "AAAA", format: name },
      });
      assertEquals([name, audio.status], [name, 200]);
      const batch = await post("/batches", {
        endpoint: "/v1/chat/completions",
        completion_window: name,
        requests: [{ custom_id: "a", body: { model: "sandbox/chat-1", messages: [{ role: "user", content: "x" }] } }],
      });
      assertEquals([name, batch.status], [name, 400]);
      assertStringIncludes(batch.text, "completion_window");
    }
  } finally {
    await gateway.stop();
  }
});

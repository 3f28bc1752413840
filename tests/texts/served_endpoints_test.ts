import { assertEquals } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { FORMATS } from "../support/formats.ts";
import { bodyOf, requestOf } from "./support.ts";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";

/** The format in which a provider that speaks two of them gets a request. */
async function formatFor(
  caller: CallerFormatName,
  name: string,
  formats: readonly CallerFormatName[],
): Promise<string> {
  const asked: string[] = [];
  const { service } = textGatewayOf({
    providers: {
      one: [formats, (call) => {
        const format = String(call.path).split("/")[1] ?? "";
        asked.push(format);
        return wholeReply(FORMATS.find((each) => each === format) ?? "chat")(call);
      }],
    },
    model: { pricing: {}, top_provider: { max_completion_tokens: 8000 }, serves: [{ provider: "one", model: name }] },
  });
  await (await service.handle(requestOf(caller, { body: bodyOf(caller) }))).text();
  return asked.join();
}

Deno.test("models that OpenAI serves at /responses only are not asked for at chat completions", async () => {
  for (const name of ["gpt-5-pro", "gpt-5.5-pro", "gpt-5.3-codex", "o3-pro"]) {
    for (const caller of FORMATS) {
      assertEquals(await formatFor(caller, name, ["responses", "chat"]), "responses", `${name}, ${caller}`);
    }
  }
});

Deno.test("other models are asked for in the caller's own format, and a provider with one format in that", async () => {
  assertEquals(await formatFor("chat", "gpt-4.1", ["responses", "chat"]), "chat");
  assertEquals(await formatFor("chat", "gpt-5-pro", ["chat"]), "chat");
});

import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "yaml";
import { present } from "../support/items.ts";
import { startTestGateway } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any -- parts of a page and bodies of requests
type Json = any;

const PAGE = await Deno.readTextFile(new URL("../../docs/models.md", import.meta.url));
const SECTION = present(PAGE.split("## A model that is newer than the gateway")[1], "the section");
const [refused = "", stated = "", accepted = ""] = [...SECTION.matchAll(/```\w+\n([^]*?)```/g)].map(([, text]) => text);

const seen: Json[] = [];

/** Acme, whose model refuses `temperature` as OpenAI's newest models do, and has the efforts of the page. */
const acme = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  seen.push(body);
  const isUnknown = !["low", "high", undefined].includes(body.reasoning_effort);
  const param = body.temperature === undefined ? isUnknown ? "reasoning_effort" : null : "temperature";
  if (param !== null) {
    const message = `Unsupported parameter: '${param}' is not supported with this model.`;
    const error = { message, type: "invalid_request_error", param, code: "unsupported_parameter" };
    return Response.json({ error }, { status: 400 });
  }
  return Response.json({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: body.model,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
  });
});

/** The page's configuration with the address of this test, with or without its facts. */
function configOf(hasFacts: boolean): Record<string, unknown> {
  const { providers, models } = parse(stated) as Json;
  const address = { ...providers.acme, base_url: `http://127.0.0.1:${acme.addr.port}/v1`, api_key: "k" };
  const { facts: _facts, ...plain } = address;
  const withoutFacts = models.map(({ facts: _own, ...model }: Json) => model);
  return { providers: { acme: hasFacts ? address : plain }, models: hasFacts ? models : withoutFacts };
}

/** Sends the request of a command of the page, with further fields. */
async function ask(command: string, hasFacts: boolean, fields: Json = {}) {
  const gateway = await startTestGateway({ config: configOf(hasFacts) });
  const body = JSON.parse(present(/-d '(.*)'/.exec(command)?.[1], "the body"));
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...fields }),
  });
  const text = await response.text();
  await gateway.stop();
  return { status: response.status, headers: response.headers, text };
}

Deno.test("a model without facts is refused what it does not take, as docs/models.md shows", async () => {
  const { status, text } = await ask(refused, false);
  const { error } = JSON.parse(text);
  const { error: printed } = JSON.parse(present(refused.trim().split("\n").at(-1), "the response"));
  assertEquals(status, 400);
  const { doc_url: _page, ...shown } = error;
  assertEquals(shown, printed);
});

Deno.test("facts of the configuration alone adapt a model that does not exist yet, as docs/models.md shows", async () => {
  const { status, headers, text } = await ask(accepted, true);
  assertEquals(status, 200, text);
  assertEquals(seen.at(-1).temperature, undefined);
  for (const line of accepted.trim().split("\n").filter((each) => /^[a-z-]+: /.test(each))) {
    const [name = "", value] = line.split(": ");
    assertEquals(headers.get(name), value);
  }
  assertStringIncludes(accepted, "x-service-dropped: temperature");
});

Deno.test("an effort that the stated facts lack becomes the nearest one, as docs/models.md says", async () => {
  const { status, headers } = await ask(accepted, true, { reasoning_effort: "medium" });
  assertEquals([status, seen.at(-1).reasoning_effort], [200, "high"]);
  assertEquals(headers.get("x-service-dropped"), "reasoning_effort, temperature");
});

Deno.test("the vendor of these tests stops", () => acme.shutdown());

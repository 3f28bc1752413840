import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { CALLER_PROTOCOLS, sendAs } from "./caller_protocols.ts";

/** Secret texts, with characters that every escaping changes. */
const CANARIES = {
  prompt: 'canary-prompt "quoted/slash" é+&=% 7f3a91',
  vendorKey: "canary-vendor-key/+=-55aa77",
  otherVendorKey: "canary-vendor-key-two-66bb88",
  output: "canary-output-c0ffee",
  unknownKey: "sk-sy-canary0unknown0key0000000000000000000000",
};

/** Encodings under which a text may appear. */
function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  // The middle of a base64 text is the same whatever precedes it.
  const base64 = [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    const middle = encoded.slice(4, -4);
    return [middle, middle.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(text),
    encodeURI(text),
    ...base64,
    bytes.toString("hex"),
  ].filter((spelling) => spelling.length >= 8);
}

function assertHoldsNone(what: string, text: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    for (const spelling of spellingsOf(secret)) {
      assert(!text.includes(spelling), `${what} holds "${secret}" as "${spelling}"`);
    }
  }
}

Deno.test("no log line at any level and no error body has a key, a prompt or an output", async () => {
  const gateway = await startTestGateway({ logLevel: "debug" });
  const broken = await startTestGateway({
    logLevel: "debug",
    config: {
      providers: {
        refusing: {
          kind: "openai",
          base_url: gateway.sandbox.baseUrls.openai,
          api_key: `bad-${CANARIES.vendorKey}`,
          speaks: "both",
        },
        gone: { kind: "anthropic", base_url: "http://127.0.0.1:1", api_key: CANARIES.otherVendorKey },
      },
      models: [textModel("sandbox/refusing", ["refusing"]), textModel("sandbox/gone", ["gone"])],
    },
  });
  const errorBodies: string[] = [];
  const orders = [
    "",
    "[[fail 400]]",
    "[[fail 503]]",
    "[[cut 1]]",
    "[[error 1]]",
    "[[html]]",
    "[[refuse]]",
    "[[close 1]]",
  ];
  for (const face of CALLER_PROTOCOLS) {
    for (const stream of [false, true]) {
      for (const order of orders) {
        const text = `${order} [[say ${CANARIES.output} and more]] ${CANARIES.prompt}`;
        const answer = await sendAs(face, gateway, { text, stream });
        if (answer.status !== 200) errorBodies.push(answer.text);
      }
      for (const model of ["sandbox/refusing", "sandbox/gone"]) {
        const answer = await sendAs(face, broken, { model, text: CANARIES.prompt, stream });
        assert(answer.status >= 400, answer.text);
        errorBodies.push(answer.text);
      }
    }
    const refusals = [
      { body: `{"broken ${CANARIES.prompt}` },
      { body: face.body(face.ownModel, CANARIES.prompt), headers: { "x-service-provider-type": "nosuch" } },
      { model: "sandbox/nowhere", text: CANARIES.prompt },
      { extra: { messages: CANARIES.prompt, input: [CANARIES.prompt], contents: CANARIES.prompt } },
      { path: `${face.path(face.ownModel)}?key=${CANARIES.unknownKey}&prompt=${encodeURIComponent(CANARIES.prompt)}` },
      { path: `/nowhere?key=${CANARIES.unknownKey}` },
    ];
    for (const question of refusals) {
      const { status, text } = await sendAs(face, gateway, question);
      if (status !== 200) errorBodies.push(text);
    }
    const unknown = await sendAs(face, { address: gateway.address, key: CANARIES.unknownKey });
    assertEquals(unknown.status, 401);
    errorBodies.push(unknown.text);
  }
  const secrets = [...Object.values(CANARIES), gateway.key, gateway.adminKey, broken.key, broken.adminKey];
  await gateway.stop();
  await broken.stop();
  const lines = [...gateway.logLines, ...broken.logLines];
  assert(lines.length > 100, `${lines.length} lines were logged`);
  assert(errorBodies.length > 60, `${errorBodies.length} errors were answered`);
  assertHoldsNone("The log", lines.join("\n"), secrets);
  assertHoldsNone("An error body", errorBodies.join("\n"), secrets);
});

Deno.test("the search for canaries finds them in every spelling", () => {
  const { prompt } = CANARIES;
  const hidden = [
    prompt,
    JSON.stringify({ prompt }),
    encodeURIComponent(prompt),
    btoa(`x${encodeURI("canary")}`) + Buffer.from(`ab${prompt}`).toString("base64"),
  ];
  for (const text of hidden) assert(spellingsOf(prompt).some((spelling) => text.includes(spelling)), text);
});

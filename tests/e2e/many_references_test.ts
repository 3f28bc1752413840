import { assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { type CallerProtocol, CHAT, MESSAGES, RESPONSES } from "./caller_protocols.ts";

const IDS = Array.from({ length: 5_001 }, (_, nth) => `id_${nth}`);

/** Fields of requests that name state at a vendor. */
const FIELDS: readonly (readonly [face: CallerProtocol, fields: Record<string, unknown>])[] = [
  [RESPONSES, { conversation: IDS }],
  [RESPONSES, { input: IDS.map((id) => ({ type: "item_reference", id })) }],
  [MESSAGES, { container: IDS }],
  [CHAT, { messages: IDS.map((id) => ({ role: "assistant", audio: { id } })) }],
];

Deno.test("a request with more than 5,000 ids of state is refused before they are looked up", async () => {
  const gateway = await startTestGateway();
  for (const [face, fields] of FIELDS) {
    const response = await fetch(gateway.address + face.path(face.ownModel), {
      method: "POST",
      headers: face.headers(gateway.key),
      body: JSON.stringify({ ...face.body(face.ownModel, "hello"), ...fields }),
    });
    const text = await response.text();
    assertEquals(response.status, 400, text);
    assertStringIncludes(text, "at most 5000 ids");
  }
  await gateway.stop();
});

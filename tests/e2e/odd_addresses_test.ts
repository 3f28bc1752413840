import { assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { startTestGateway } from "../support/gateway.ts";
import { rawAnswer } from "../support/raw_http.ts";

/** Targets and hosts of which no parser makes an address. The path is that of an endpoint all the same. */
const ADDRESSES = [
  ["http://[::1/v1/chat/completions", "gateway"],
  ["/v1/chat/completions", "999.999.999.999"],
  ["/v1/chat/completions", "[:::::]"],
] as const;

const BODY = JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "Say hello" }] });
const LONG = JSON.stringify({
  model: "sandbox/chat-1",
  messages: [{ role: "user", content: "hello ".repeat(40_000) }],
});

/** Each character is one byte. */
function bytesOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => String.fromCharCode(byte)).join("");
}

for (const isolates of [1, 2]) {
  Deno.test(`an address that no parser takes fails no request, with ${isolates} threads`, async () => {
    const config = { server: { isolates }, limits: { large_body: "100KB" } };
    const gateway = await startTestGateway({ config, isLive: true });
    const port = Number(new URL(gateway.address).port);
    const cases: Readonly<Record<string, readonly [fields: string, body: string]>> = {
      "a plain body": ["", BODY],
      "a coded body": ["content-encoding: gzip\r\n", bytesOf(gzipSync(BODY))],
      "an idempotency key": ["idempotency-key: KEY\r\n", BODY],
      "a stream that can be resumed": ["x-service-resume: true\r\n", BODY.replace("{", '{"stream":true,')],
      "a large body": ["", LONG],
    };
    try {
      for (const [place, [target, host]] of ADDRESSES.entries()) {
        for (const [what, [fields, body]] of Object.entries(cases)) {
          const { status, body: answer } = await rawAnswer(
            port,
            `POST ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${gateway.key}\r\n` +
              `content-type: application/json\r\ncontent-length: ${body.length}\r\n` +
              `${fields.replace("KEY", `key-${place}`)}connection: close\r\n\r\n${body}`,
          );
          assertEquals(status, 200, `${target} at ${host}, ${what}: ${answer}`);
        }
      }
    } finally {
      await gateway.stop();
    }
  });
}

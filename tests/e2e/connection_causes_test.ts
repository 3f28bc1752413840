import { assertEquals, assertStringIncludes } from "@std/assert";
import { explain } from "../../src/observers/request_log/printed/explain.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { startScriptedUpstream } from "../support/scripted_upstream.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { EXPIRED_CERTIFICATE, ROOT } from "../webhooks/certificates.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";

/** A vendor that cannot be connected to. */
interface AwayVendor {
  readonly origin: string;
  stop(): Promise<void>;
}

const nothing = () => Promise.resolve();
const trusted = () => startReceiver(() => Promise.resolve("next"));

const CASES: Readonly<Record<string, readonly [cause: string, open: () => AwayVendor, isTrusted?: boolean]>> = {
  "refuses the connection": ["it refuses the connection", () => ({ origin: closedOrigin(), stop: nothing })],
  "has a certificate of an unknown issuer": ["the issuer of its certificate is not trusted", () => {
    const { port, stop } = trusted();
    return { origin: `https://localhost:${port}`, stop };
  }, false],
  "has an expired certificate": ["its certificate has expired", () => {
    const { port, stop } = startReceiver(() => Promise.resolve("next"), EXPIRED_CERTIFICATE);
    return { origin: `https://localhost:${port}`, stop };
  }],
  "does not speak TLS": ["the TLS connection fails", () => {
    const { port, stop } = startScriptedUpstream(async (side) =>
      void await side.say("HTTP/1.1 400 Bad Request\r\n\r\n")
    );
    return { origin: `https://localhost:${port}`, stop };
  }],
};

for (const isolates of [1, 2]) {
  for (const [what, [cause, open, isTrusted = true]] of Object.entries(CASES)) {
    Deno.test(`the answer, the record and the explanation say that a vendor ${what}; threads: ${isolates}`, async () => {
      const vendor = open();
      const caFile = await Deno.makeTempFile();
      await Deno.writeTextFile(caFile, ROOT);
      const gateway = await startTestGateway({
        isolates,
        config: {
          egress: { allow: ["127.0.0.0/8", "::1/128"], ...isTrusted && { ca_file: caFile } },
          providers: { away: { kind: "openai", base_url: `${vendor.origin}/v1`, api_key: "k", speaks: "chat" } },
          models: [textModel("sandbox/away", ["away"])],
        },
      });
      try {
        const { status, text, headers } = await sendAs(CHAT, gateway, { model: "sandbox/away", text: "hello" });
        assertEquals(status, 502, text);
        const message = `Provider "away" could not be reached: ${cause}`;
        assertStringIncludes(JSON.parse(text).error.message, message);
        assertEquals(text.includes("localhost"), false);
        const id = headers.get("x-service-request-id");
        const record = await loggedRequest(gateway, `${id}`);
        assertStringIncludes(JSON.stringify(record), cause);
        assertStringIncludes(explain(record).join("\n"), cause);
      } finally {
        await gateway.stop();
        await vendor.stop();
        await Deno.remove(caFile);
      }
    });
  }
}

/** A request of the log, which is written a moment after the response. */
async function loggedRequest(gateway: { readonly address: string; readonly adminKey: string }, id: string) {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  // Ends when the log has the request.
  while (true) {
    const response = await fetch(`${gateway.address}/admin/v1/requests/${id}`, { headers });
    const body = await response.json();
    if (response.status === 200) return body;
  }
}

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { skipReplyChecks } from "../support/reply_checks.ts";
import { itemAt } from "../support/items.ts";
import { answer, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { ROOT } from "../webhooks/certificates.ts";
import { sendText, startReceiver } from "../webhooks/receiver.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";

const CREDENTIALS = btoa("me:pass-word-123");
const COMPLETION = chatReply("through", { prompt: 3, completion: 4 });

interface LocalProxy {
  readonly port: number;
  /** The heads of the received requests. */
  readonly heads: readonly string[];
  stop(): Promise<void>;
}

/** A CONNECT proxy that resolves every name to loopback; it rejects clients without the credentials. */
function startProxy(refusal: string | null = null): LocalProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heads: string[] = [];
  const open = new Set<Deno.Conn>();
  const serve = async (near: Deno.TcpConn) => {
    const head = await readHead(near);
    heads.push(head);
    const target = /^CONNECT [^ ]+:(\d+) HTTP\/1\.1\r\n/.exec(head);
    const isKnown = head.includes(`\r\nproxy-authorization: Basic ${CREDENTIALS}\r\n`);
    if (refusal !== null || target === null || !isKnown) {
      await write(near, refusal ?? "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
      return near.close();
    }
    const far = await Deno.connect({ hostname: "127.0.0.1", port: Number(target[1]) });
    open.add(far);
    await write(near, "HTTP/1.1 200 Connection established\r\n\r\n");
    await Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      serve(connection).catch(() => {});
    }
  })();
  return {
    port: listener.addr.port,
    heads,
    async stop() {
      listener.close();
      for (const connection of open) {
        try {
          connection.close();
        } catch { /* closed already */ }
      }
      await accepting;
    },
  };
}

async function readHead(connection: Deno.TcpConn): Promise<string> {
  const byte = new Uint8Array(1);
  let text = "";
  while (!text.endsWith("\r\n\r\n") && await connection.read(byte) !== null) {
    text += String.fromCharCode(itemAt(byte, 0));
  }
  return text;
}

async function write(connection: Deno.TcpConn, text: string): Promise<void> {
  await connection.write(new TextEncoder().encode(text));
}

async function withProxy(
  { refusal = null, user = "me:pass-word-123" }: { readonly refusal?: string | null; readonly user?: string },
  test: (parts: {
    readonly proxy: LocalProxy;
    readonly vendor: ReturnType<typeof startReceiver>;
    ask(): ReturnType<typeof sendAs>;
    readonly logLines: readonly string[];
  }) => Promise<void>,
): Promise<void> {
  const proxy = startProxy(refusal);
  const vendor = startReceiver(async (_request, connection) => {
    await sendText(connection, COMPLETION);
    return "next" as const;
  });
  const caFile = await Deno.makeTempFile();
  await Deno.writeTextFile(caFile, ROOT);
  const gateway = await startTestGateway({
    env: { HTTPS_PROXY: `http://${user}@127.0.0.1:${proxy.port}` },
    config: {
      providers: {
        far: {
          kind: "openai",
          base_url: `https://receiver.example:${vendor.port}/v1`,
          api_key: "vk-1",
          speaks: "chat",
        },
      },
      models: [textModel("sandbox/far", ["far"])],
      egress: { allow: ["127.0.0.1/32"], ca_file: caFile },
    },
  });
  skipReplyChecks(gateway.address); // An idle connection is reused for some seconds only.
  const ask = () => sendAs(CHAT, gateway, { model: "sandbox/far", text: "hello" });
  try {
    await test({ proxy, vendor, ask, logLines: gateway.logLines });
  } finally {
    await gateway.stop();
    await vendor.stop();
    await proxy.stop();
    await Deno.remove(caFile);
  }
}

Deno.test("calls of an https vendor use a tunnel through the proxy, which is reused, and only the proxy gets its credentials", async () => {
  await withProxy({}, async ({ proxy, vendor, ask, logLines }) => {
    for (let turn = 0; turn < 3; turn++) {
      const { status, text } = await ask();
      assertEquals([status, text.includes("through")], [200, true], text);
    }
    assertEquals(proxy.heads, [
      `CONNECT receiver.example:${vendor.port} HTTP/1.1\r\nhost: receiver.example:${vendor.port}\r\n` +
      `proxy-authorization: Basic ${CREDENTIALS}\r\n\r\n`,
    ]);
    assertEquals(vendor.received.map(({ path }) => path), Array(3).fill("/v1/chat/completions"));
    for (const { headers } of vendor.received) {
      assertEquals([headers.get("proxy-authorization"), headers.get("authorization")], [null, "Bearer vk-1"]);
    }
    assert(!logLines.join("\n").includes(CREDENTIALS));
  });
});

const REFUSALS: Readonly<Record<string, string | null>> = {
  "does not know who asks": null,
  "forbids the host": "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
  "cannot reach the host": "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
  "hangs up": "",
  "speaks no HTTP": "what?\r\n\r\n",
  "redirects": "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
  "sends more than its answer": "HTTP/1.1 200 OK\r\n\r\nsurplus",
};

for (const [what, refusal] of Object.entries(REFUSALS)) {
  Deno.test(`a vendor cannot be reached when the proxy ${what}, and no credentials are shown`, async () => {
    await withProxy({ refusal, user: "me:wrong-pass" }, async ({ vendor, ask, logLines }) => {
      const { status, text } = await ask();
      assertEquals(status, 502, text);
      assertStringIncludes(text, "could not be reached");
      assertEquals(vendor.received.length, 0);
      const shown = logLines.join("\n") + text;
      for (const secret of ["wrong-pass", btoa("me:wrong-pass")]) assert(!shown.includes(secret));
    });
  });
}

Deno.test("calls of an http vendor go to the proxy with their full URL, and its 407 is a failure to connect", async () => {
  let reply = COMPLETION;
  const proxy = startScriptedUpstream(async (side) => {
    while (await side.request()) await side.say(reply);
  });
  const gateway = await startTestGateway({
    env: { http_proxy: `http://me:pass-word-123@127.0.0.1:${proxy.port}`, no_proxy: "near.example" },
    config: {
      providers: {
        far: { kind: "openai", base_url: "http://far.example:8080/v1", api_key: "vk-1", speaks: "chat" },
      },
      models: [textModel("sandbox/far", ["far"])],
    },
  });
  try {
    const ask = () => sendAs(CHAT, gateway, { model: "sandbox/far", text: "hello" });
    assertEquals((await ask()).status, 200);
    const { path, headers } = itemAt(proxy.seen, 0);
    assertEquals(path, "http://far.example:8080/v1/chat/completions");
    assertEquals([headers.get("host"), headers.get("proxy-authorization")], [
      "far.example:8080",
      `Basic ${CREDENTIALS}`,
    ]);
    reply = answer(407, "");
    const refused = await ask();
    assertEquals(refused.status, 502);
    const cause = "could not be reached: the proxy refuses the gateway's credentials (status 407)";
    assertStringIncludes(refused.text, cause);
  } finally {
    await gateway.stop();
    await proxy.stop();
  }
});

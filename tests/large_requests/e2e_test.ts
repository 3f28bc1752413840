import { longTest } from "../support/long_test.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startTestGateway } from "../support/gateway.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";

const post = (address: string, key: string, body: unknown, init: RequestInit = {}) =>
  fetch(`${address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });

const said = (content: string) => ({ model: "sandbox/chat-1", messages: [{ role: "user", content }] });

/** With one thread that accepts connections, and with two, which hand large requests on. */
const COUNTS = [1, 2] as const;

const titled = (isolates: number, title: string) => isolates === 1 ? title : `${isolates} isolates: ${title}`;

/** The error of a response, with the address of its description without the gateway's own. */
async function errorIn(response: Response): Promise<unknown> {
  const { error } = await response.json();
  return { ...error, doc_url: new URL(error.doc_url).hash };
}

for (const isolates of COUNTS) {
  Deno.test(
    titled(isolates, "a large request gets the same reply and charge in a thread as on the main thread"),
    async () => {
      const [main, threaded] = await Promise.all([
        startTestGateway(),
        startTestGateway({ isolates, config: { limits: { large_body: 0 } } }),
      ]);
      for (const stream of [false, true]) {
        for (const model of ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"]) {
          const spent: bigint[] = [];
          const answers: unknown[] = [];
          for (const { address, key, adminKey } of [main, threaded]) {
            const account = accountMoney({ address, adminKey });
            const before = await account.balance();
            const response = await post(address, key, { ...said("[[words 9]] Say it"), model, stream });
            const text = await response.text();
            answers.push([response.status, response.headers.get("content-type"), text.length]);
            spent.push(before - await account.balance());
          }
          assertEquals(answers[1], answers[0]);
          assertEquals(spent[1], spent[0]);
          assert(itemAt(spent, 0) > 0n);
        }
      }
      for (
        const [body, status] of [['{"model":', 400], [
          '{"model":"nobody/none","messages":[{"role":"user","content":"x"}]}',
          404,
        ], ["[]", 400]] as const
      ) {
        const [one, other] = atLeast(
          await Promise.all([main, threaded].map(({ address, key }) => post(address, key, body))),
          2,
        );
        assertEquals([one.status, other.status], [status, status]);
        const [errorOfThread, error] = [await errorIn(other), await errorIn(one)];
        assertEquals(errorOfThread, error);
      }
      await Promise.all([main.stop(), threaded.stop()]);
    },
  );
}

longTest("the main thread stays responsive while a thread parses 200,000 messages", async () => {
  const gateway = await startTestGateway();
  const messages = new Array(200_000).fill('{"role":"user","content":""}').join(",");
  const body = `{"model":"sandbox/chat-1","messages":[${messages}]}`;
  let isAnswered = false;
  const large = post(gateway.address, gateway.key, body).then(async (response) => {
    await response.body?.cancel();
    isAnswered = true;
  });
  // On the main thread, at most one small request could get its response between the arrival of the body and its
  // response.
  let small = 0;
  while (!isAnswered) {
    const response = await fetch(`${gateway.address}/healthz`);
    await response.body?.cancel();
    small++;
  }
  await large;
  assert(small > 10, `${small} small requests`);
  await gateway.stop();
});

for (const isolates of COUNTS) {
  Deno.test(
    titled(
      isolates,
      "a caller that disconnects from a large stream is charged for the output, and the vendor's work is cancelled",
    ),
    async () => {
      const gateway = await startTestGateway({ isolates, config: { limits: { large_body: 0 } } });
      const account = accountMoney(gateway);
      const before = await account.balance();
      const leaving = new AbortController();
      const body = { ...said("[[words 500]] [[gap 1000]] go"), stream: true };
      const response = await post(gateway.address, gateway.key, body, { signal: leaving.signal });
      const reader = response.body!.getReader();
      await reader.read();
      leaving.abort();
      await reader.read().catch(() => {});
      await eventually(async () => await account.balance() < before);
      await gateway.stop();
    },
  );
}

for (const isolates of COUNTS) {
  Deno.test(titled(isolates, "a shutdown ends large streams with an error event"), async () => {
    const gateway = await startTestGateway({ isolates, config: { limits: { large_body: 0 } } });
    const response = await post(gateway.address, gateway.key, {
      ...said("[[words 500]] [[gap 1000]] go"),
      stream: true,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    const stopped = gateway.stop();
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
    await stopped;
    assertMatch(text, /data: \{"error":\{"message":"[^"]+send (the request|it) again"/);
  });
}

for (const isolates of COUNTS) {
  Deno.test(titled(isolates, "a body of undeclared length is read before it is routed"), async () => {
    const gateway = await startTestGateway({ isolates, config: { limits: { large_body: 1_000 } } });
    for (const words of [1, 1_000]) {
      const text = JSON.stringify(said("word ".repeat(words)));
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        },
      });
      const response = await post(gateway.address, gateway.key, "", { body });
      assertEquals(response.status, 200);
      await response.body?.cancel();
    }
    await gateway.stop();
  });
}

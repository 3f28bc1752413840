import { assert, assertEquals } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { startTestGateway } from "../support/gateway.ts";
import { StepMeasure } from "../support/step_measure.ts";

const MODEL = "sandbox/chat-1";
/** The requests of a create: its body has less than `limits.large_body`. */
const REQUESTS = 4_500;
/** What a thread that answers others parses in one step: some tens of requests. */
const MAX_STEP = 20_000;

const many = (request: string) =>
  Array(REQUESTS).fill(request).map((each, nth) => each.replace("#", `r-${nth}`)).join();
const messages = '"messages":[{"role":"user","content":"Hi"}]';

/** What each protocol sends to create a batch. */
const CREATES = {
  default: {
    path: "/v1/batches",
    body: `{"endpoint":"/v1/chat/completions","requests":[${
      many(`{"custom_id":"#","body":{"model":"${MODEL}","max_tokens":1,${messages}}}`)
    }]}`,
  },
  message: {
    path: "/msgcompat/v1/messages/batches",
    body: `{"requests":[${many(`{"custom_id":"#","params":{"model":"${MODEL}","max_tokens":1,${messages}}}`)}]}`,
  },
  content: {
    path: `/gencompat/v1beta/models/${MODEL}:batchGenerateContent`,
    body: `{"batch":{"input_config":{"requests":{"requests":[${
      many('{"request":{"contents":[{"parts":[{"text":"Hi"}]}]},"metadata":{"key":"#"}}')
    }]}}}}`,
  },
};

for (const [protocol, { path, body }] of Object.entries(CREATES)) {
  Deno.test(`a create of a batch with thousands of requests is parsed request by request: ${protocol}`, async () => {
    const folder = await Deno.makeTempDir();
    const gateway = await startTestGateway({ config: { files: `${folder}/files` } });
    const { address, key } = gateway;
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-service-dry-run": "true",
      "anthropic-version": "2023-06-01",
    };
    try {
      // The code and the thread are loaded before.
      await callerOf(address, headers)("GET", "/v1/batches");
      const bytes = new TextEncoder().encode(body); // the checks of tests parse a body that is text
      using measure = new StepMeasure();
      const response = await fetch(address + path, { method: "POST", headers, body: bytes });
      const text = await response.text();
      assertEquals(response.status, 200, text.slice(0, 500));
      assert(body.length > 15 * MAX_STEP);
      assert(measure.maxLength < MAX_STEP, `${measure.maxLength} characters were parsed in one step`);
    } finally {
      await gateway.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

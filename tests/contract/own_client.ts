import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { createHttpClient } from "../../src/platform/net/http1/client.ts";
import { readAll } from "../../src/platform/net/http1/response.ts";
import type { ClientUnderTest } from "./hostile_vendor.ts";

const MAX_BODY_BYTES = 100_000_000;

/** Returns the gateway's own client for the contract. */
export function ownClient(): ClientUnderTest {
  const client = createHttpClient({ clock: systemClock });
  return {
    async call({ port, method, path, body, signal }) {
      const origin = { tls: false, hostname: "127.0.0.1", port };
      const request = { method, path, headerLines: "", body };
      let cancel = () => {};
      const stop = () => cancel();
      signal.addEventListener("abort", stop);
      try {
        const response = await client.send(origin, request, (onCancel) => void (cancel = onCancel));
        cancel = () => response.cancel();
        const bytes = await readAll(response, MAX_BODY_BYTES);
        return { status: response.status, body: new TextDecoder("latin1").decode(bytes) };
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    close: () => client.close(),
  };
}

// The health check of the container: succeeds while the gateway accepts paid requests. Not by `fetch`, which would ask
// the proxy in HTTP_PROXY.
import { get } from "node:http";

const port = Deno.env.get("PORT");
get(
  { host: "127.0.0.1", port, path: "/readyz", agent: false },
  ({ statusCode }) => Deno.exit(statusCode === 200 ? 0 : 1),
)
  .on("error", () => Deno.exit(1));

// The bare proxy on node:http with keep-alive agents: it neither reads nor counts nor charges anything. Its only
// argument is the upstream's origin. It prints its address when it listens. JavaScript, as Node runs it without a build.
import { Agent, createServer, request as ask } from "node:http";
import process from "node:process";

const { hostname, port } = new URL(process.argv[2]);
const agent = new Agent({ keepAlive: true, noDelay: true });

const server = createServer({ noDelay: true }, (request, response) => {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const headers = {
    "content-type": "application/json",
    "accept-encoding": "identity",
    "authorization": "Bearer upstream-key",
    ...(length !== undefined && { "content-length": length }),
    ...(encoding !== undefined && { "transfer-encoding": encoding }),
  };
  const outbound = ask({ hostname, port, agent, path: request.url, method: request.method, headers }, (upstream) => {
    const type = upstream.headers["content-type"] ?? "application/octet-stream";
    const whole = upstream.headers["content-length"];
    response.writeHead(upstream.statusCode, {
      "content-type": type,
      ...(whole !== undefined && { "content-length": whole }),
    });
    upstream.pipe(response);
  });
  outbound.on("error", () => response.destroy());
  request.pipe(outbound);
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));

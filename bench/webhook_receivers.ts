import { argument } from "./argument.ts";

/**
 * Receivers for the webhooks benchmark: one https server for all names. Names and paths that start with `hang` get no
 * response. Arguments are the files of a certificate and a key. It prints its port and, at the end of its input, how
 * late events were in milliseconds.
 */
const certificatePath = argument(0, "the path of the certificate");
const keyPath = argument(1, "the path of its key");
const lateMs: number[] = [];
let hanging = 0;

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  cert: Deno.readTextFileSync(certificatePath),
  key: Deno.readTextFileSync(keyPath),
  onListen: ({ port }) => console.log(port),
}, async (request) => {
  const { data } = await request.json();
  if (request.headers.get("host")?.startsWith("hang") || new URL(request.url).pathname.startsWith("/hang")) {
    hanging++;
    return await new Promise<Response>(() => {});
  }
  lateMs.push(Date.now() - data.endedAt);
  return new Response(null, { status: 204 });
});

await Deno.stdin.readable.pipeTo(new WritableStream());
console.log(JSON.stringify({ lateMs, hanging }));
void server.shutdown();
Deno.exit(0);

import { argument } from "./argument.ts";

/**
 * Receivers for the webhooks benchmark: one https server for all names. Names and paths that start with `hang` get no
 * response, and paths that start with the name of a hostile response get that. Arguments are the files of a certificate
 * and a key. It prints its port and, at the end of its input, how late events were in milliseconds.
 */
const certificatePath = argument(0, "the path of the certificate");
const keyPath = argument(1, "the path of its key");
/** Responses that take what a delivery gives them: as many bytes, header fields or seconds as they can. */
const HOSTILE: Readonly<Record<string, () => Response>> = {
  endless: () => new Response(streamOf(() => new Uint8Array(65_536), 0)),
  trickle: () => new Response(streamOf(() => new Uint8Array(1), 100)),
  headers: () => new Response("x", { headers: { "x-large": "x".repeat(2_000_000) } }),
  redirect: () => new Response("x".repeat(1_000_000), { status: 307, headers: { location: "/redirect" } }),
  refusal: () => new Response("x".repeat(8_000_000), { status: 500 }),
};

function streamOf(chunk: () => Uint8Array<ArrayBuffer>, pauseMs: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      controller.enqueue(chunk());
    },
  });
}

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
  const [, name = ""] = new URL(request.url).pathname.split("/");
  const hostile = HOSTILE[name];
  if (hostile !== undefined) return hostile();
  if (request.headers.get("host")?.startsWith("hang") || name === "hang") {
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

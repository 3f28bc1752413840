/**
 * The simplest proxy that Deno's own APIs allow: it neither reads nor counts nor charges anything. Its only argument is
 * the upstream's origin. It prints its address when it listens.
 */
const [origin] = Deno.args;

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, async (request) => {
  const { pathname, search } = new URL(request.url);
  const upstream = await fetch(origin + pathname + search, {
    method: request.method,
    headers: {
      "content-type": "application/json",
      "accept-encoding": "identity",
      "authorization": "Bearer upstream-key",
    },
    body: request.body,
    redirect: "manual",
  });
  const headers = { "content-type": upstream.headers.get("content-type") ?? "application/octet-stream" };
  return new Response(upstream.body, { status: upstream.status, headers });
});

/**
 * An image vendor for the benchmark, in a separate process. It answers generations with a 4 MB image in base64. It
 * reads edits to their end and answers with a small image. It prints its address when it listens.
 */
const IMAGE_CHARACTERS = 4_000_000;
const HEAD = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zUAAAA"; // a PNG of 1024 by 1024

const usage = {
  input_tokens: 10,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
  output_tokens: 1056,
  total_tokens: 1066,
};
const whole = new TextEncoder().encode(
  JSON.stringify({ created: 1, data: [{ b64_json: HEAD.padEnd(IMAGE_CHARACTERS, "A") }], usage }),
);
const small = new TextEncoder().encode(
  JSON.stringify({ created: 1, data: [{ b64_json: HEAD.padEnd(400, "A") }], usage }),
);

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, async (request) => {
  for await (const _ of request.body ?? []);
  const isEdit = new URL(request.url).pathname.endsWith("/edits");
  return new Response(isEdit ? small : whole, { headers: { "content-type": "application/json" } });
});

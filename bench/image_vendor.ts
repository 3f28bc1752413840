/**
 * A vendor of pictures for the benchmark, a process of its own: generations answer a picture of 4 MB in base64, edits
 * are read to their end and answered with a small one. Says its address when it listens.
 */
const PICTURE_CHARACTERS = 4_000_000;
const HEAD = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zUAAAA"; // a PNG of 1024 by 1024

const usage = {
  input_tokens: 10,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
  output_tokens: 1056,
  total_tokens: 1066,
};
const whole = new TextEncoder().encode(
  JSON.stringify({ created: 1, data: [{ b64_json: HEAD.padEnd(PICTURE_CHARACTERS, "A") }], usage }),
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

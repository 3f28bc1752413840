import { assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import { itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { rawAnswer } from "../../support/raw_http.ts";
import { stateOf } from "../../support/patience.ts";

const gateway = await startVideoGateway();
const task = await gateway.until(await gateway.create(), "completed");
const url = itemAt(task.mirror_urls as string[], 0);
const get = async (address: string, headers: Record<string, string> = {}, method = "GET") => {
  const response = await fetch(address, { headers, method });
  return { status: response.status, headers: response.headers, bytes: await response.bytes() };
};
/** ETag of the copy; a stream from the vendor before that has none. */
const etag = await whenCopied();
const LENGTH = SAMPLE_VIDEO.length;

async function whenCopied(): Promise<string> {
  const read = async () => (await get(url)).headers.get("etag") ?? "";
  return await stateOf("the result is copied", read, (tag) => tag !== "");
}

Deno.test("a file is served at its signed address with its type, its ETag and nosniff", async () => {
  const { status, headers, bytes } = await get(url);
  assertEquals([status, bytes], [200, SAMPLE_VIDEO]);
  const of = (name: string) => headers.get(name);
  assertEquals([of("content-type"), of("x-content-type-options"), of("accept-ranges")], [
    "video/mp4",
    "nosniff",
    "bytes",
  ]);
  assertEquals(of("content-security-policy"), "sandbox");
  assertEquals([of("content-disposition"), of("cache-control")?.startsWith("private")], [
    `inline; filename="${task.id}-0.mp4"`,
    true,
  ]);
  const head = await get(url, {}, "HEAD");
  assertEquals([head.status, head.headers.get("content-length"), head.bytes.length], [200, String(LENGTH), 0]);
});

const RANGES: readonly [range: string, status: number, bytes: Uint8Array | null][] = [
  ["bytes=0-0", 206, SAMPLE_VIDEO.slice(0, 1)],
  ["bytes=5-9", 206, SAMPLE_VIDEO.slice(5, 10)],
  ["bytes=2000-", 206, SAMPLE_VIDEO.slice(2_000)],
  ["bytes=-10", 206, SAMPLE_VIDEO.slice(-10)],
  ["bytes=-99999", 206, SAMPLE_VIDEO],
  ["bytes=2000-99999", 206, SAMPLE_VIDEO.slice(2_000)],
  ["bytes=5-2", 416, null],
  ["bytes=-0", 416, null],
  ["bytes=99999-", 416, null],
  [`bytes=${Array.from({ length: 1_000 }, (_, n) => `${n}-${n}`).join(",")}`, 200, SAMPLE_VIDEO],
  ["items=0-1", 200, SAMPLE_VIDEO],
  ["bytes=-", 200, SAMPLE_VIDEO],
  // Positions may have any number of digits (RFC 9110, 14.1.1).
  ["bytes=99999999999999999999-", 416, null],
  ["bytes=99999999999999999999-99999999999999999999", 416, null],
  [`bytes=${"9".repeat(400)}-`, 416, null],
  ["bytes=2000-99999999999999999999", 206, SAMPLE_VIDEO.slice(2_000)],
  ["bytes=-99999999999999999999", 206, SAMPLE_VIDEO],
  ["bytes=-00000000000000000000", 416, null],
  ["bytes=00000000000000000005-0000000000000000000009", 206, SAMPLE_VIDEO.slice(5, 10)],
  [`bytes=${LENGTH}-`, 416, null],
  [`bytes=${LENGTH - 1}-`, 206, SAMPLE_VIDEO.slice(-1)],
  ["Bytes=5-9", 206, SAMPLE_VIDEO.slice(5, 10)],
  ["bytes= 5-9 ", 206, SAMPLE_VIDEO.slice(5, 10)],
  ["bytes=5 - 9", 200, SAMPLE_VIDEO],
  ["bytes=--5", 200, SAMPLE_VIDEO],
  ["bytes=-5-9", 200, SAMPLE_VIDEO],
  ["bytes=0x5-9", 200, SAMPLE_VIDEO],
  ["bytes=5-9,", 200, SAMPLE_VIDEO],
];

for (const [range, wanted, part] of RANGES) {
  Deno.test(`Range: ${range.slice(0, 30)} returns ${wanted}`, async () => {
    const { status, bytes, headers } = await get(url, { range });
    assertEquals(status, wanted);
    if (part !== null) assertEquals(bytes, part);
    if (wanted === 416) assertEquals(headers.get("content-range"), `bytes */${LENGTH}`);
    if (wanted === 206) assertEquals(headers.get("content-length"), String(part!.length));
  });
}

Deno.test("conditions by ETag: If-None-Match returns 304, If-Range a part only of the same file", async () => {
  assertEquals((await get(url, { "if-none-match": etag })).status, 304);
  assertEquals((await get(url, { "if-none-match": `"other", W/${etag}` })).status, 304);
  assertEquals((await get(url, { "if-none-match": '"other"' })).status, 200);
  assertEquals((await get(url, { "if-range": etag, range: "bytes=0-1" })).status, 206);
  assertEquals((await get(url, { "if-range": '"other"', range: "bytes=0-1" })).status, 200);
});

Deno.test("an address with an invalid signature is 403 with one text, another method 405, and no path leads outside", async () => {
  const bad = [
    url.slice(0, -1) + (url.endsWith("A") ? "B" : "A"),
    url.replace("-0.mp4", "-1.mp4"),
    url.replace(/expires=\d/, "expires=9"),
    itemAt(url.split("?"), 0),
    `${url}&expires=1`,
  ];
  const answers = await Promise.all(bad.map((each) => get(each)));
  assertEquals(new Set(answers.map(({ status, bytes }) => status + new TextDecoder().decode(bytes))).size, 1);
  assertEquals(answers[0]?.status, 403);
  for (const method of ["POST", "DELETE"]) assertEquals((await get(url, {}, method)).status, 405);
  const port = Number(new URL(url).port);
  for (const path of ["/files/..%2f..%2fswitchyard.db", "/files/%2Fetc%2Fpasswd", "/files/a%00.mp4", "/files/../x"]) {
    const answer = await rawAnswer(
      port,
      `GET ${path}?${url.split("?")[1]} HTTP/1.1\r\nHost: h\r\n\r\n`,
    );
    assertEquals([403, 404].includes(answer.status), true, `${path} ${answer.status}`);
  }
});

Deno.test({
  name: "the gateway of the file tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});

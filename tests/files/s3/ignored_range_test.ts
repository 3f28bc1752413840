import { assertEquals, assertRejects } from "@std/assert";
import { DiskQuota } from "../../../src/platform/files/quota.ts";
import { readBucketAddress } from "../../../src/platform/files/s3/bucket_address.ts";
import { openBucketFiles } from "../../../src/platform/files/s3/open.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { NO_PROXIES } from "../../../src/platform/net/proxy.ts";
import { startStubVendor } from "../../images/stub_vendor.ts";

const FILE = new Uint8Array(200_000).map((_, at) => at * 31 + (at >> 8) & 255);

/** A bucket with one file, whose server answers ranges in its own way. */
async function fileIn(answer: (range: string | null) => Response) {
  const server = startStubVendor((request) => {
    const headers = { etag: '"e"', "last-modified": new Date(0).toUTCString(), "content-length": String(FILE.length) };
    if (request.method === "HEAD") return new Response(null, { headers });
    return answer(request.headers.get("range"));
  });
  const address = readBucketAddress(`s3://results/v?endpoint=${server.address}`);
  if (address === null) throw new Error("Cannot read the address of the bucket");
  const credentials = { accessKeyId: "AKIA", secretAccessKey: "s", sessionToken: null };
  const files = openBucketFiles({ ...address, credentials, serve: "proxy" }, {
    network: { clock: systemClock, caCerts: [], proxies: NO_PROXIES },
    quota: new DiskQuota({ quotaBytes: null, log: silentLog }),
    log: silentLog,
  });
  const file = await files.find("a.mp4");
  if (file === null) throw new Error("Cannot find the file");
  return { file, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const PARTS = [{ first: 1_000, last: 1_999 }, { first: 0, last: 9 }, { first: 199_990, last: 199_999 }] as const;

Deno.test("a bucket that ignores Range and returns the whole file gives the bytes of the part", async () => {
  await using on = await fileIn(() => new Response(FILE));
  for (const part of PARTS) {
    assertEquals(await new Response(on.file.read(part)).bytes(), FILE.slice(part.first, part.last + 1));
  }
  assertEquals(await new Response(on.file.read()).bytes(), FILE);
});

Deno.test("a bucket that returns another part than asked is an error, never other bytes", async () => {
  const wrong = { status: 206, headers: { "content-range": `bytes 0-999/${FILE.length}` } };
  await using on = await fileIn(() => new Response(FILE.slice(0, 1_000), wrong));
  await assertRejects(() => new Response(on.file.read({ first: 1_000, last: 1_999 })).bytes());
});

Deno.test("a bucket that returns the part gives its bytes", async () => {
  await using on = await fileIn((range) => {
    const [, first = "", last = ""] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    const headers = { "content-range": `bytes ${first}-${last}/${FILE.length}` };
    return new Response(FILE.slice(Number(first), Number(last) + 1), { status: 206, headers });
  });
  for (const part of PARTS) {
    assertEquals(await new Response(on.file.read(part)).bytes(), FILE.slice(part.first, part.last + 1));
  }
});

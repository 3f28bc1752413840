import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DiskQuota } from "../../../src/platform/files/quota.ts";
import { openBucket } from "../../../src/platform/files/s3/bucket.ts";
import { readBucketAddress } from "../../../src/platform/files/s3/bucket_address.ts";
import { BucketClient } from "../../../src/platform/files/s3/bucket_client.ts";
import { BucketError } from "../../../src/platform/files/s3/bucket_error.ts";
import { MultipartUpload } from "../../../src/platform/files/s3/multipart.ts";
import { checkBucket } from "../../../src/platform/files/s3/open.ts";
import { elementsIn, textIn } from "../../../src/platform/files/s3/xml.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { createHttpClient } from "../../../src/platform/net/http1/client.ts";
import { NO_PROXIES } from "../../../src/platform/net/proxy.ts";
import { startVideoGateway, type VideoGateway } from "../../support/video_gateway.ts";
import { fileStoreLaws } from "../file_store_laws.ts";
import { installS3Server, type S3Server, startS3Server } from "./s3_server.ts";
import { untilSo } from "../../support/patience.ts";

/** Set by `deno task test:s3`, because the test installs a program. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_S3");
const folder = isWanted ? await Deno.makeTempDir() : "";
const ignore = !isWanted;
const server: S3Server | null = isWanted ? await startS3Server(await installS3Server(folder)) : null;
const options = { ignore, sanitizeOps: false, sanitizeResources: false };

globalThis.addEventListener("unload", () => {
  if (folder !== "") Deno.removeSync(folder, { recursive: true });
});

const network = { clock: systemClock, caCerts: [], proxies: NO_PROXIES };

let serial = 0;

/** Settings with a prefix of their own. */
function newSettings() {
  const { address, accessKeyId, secretAccessKey } = server!;
  const place = readBucketAddress(`s3://results/test-${++serial}/files?endpoint=${address}`)!;
  return { ...place, credentials: { accessKeyId, secretAccessKey, sessionToken: null } };
}

function clientOf(settings: ReturnType<typeof newSettings>) {
  const http = createHttpClient({ clock: systemClock });
  return { http, client: new BucketClient({ settings, client: http, clock: systemClock, random: Math.random }) };
}

fileStoreLaws("a bucket", (quotaBytes) => {
  const { http, client } = clientOf(newSettings());
  const reopen = () => {
    const quota = new DiskQuota({ quotaBytes, log: silentLog });
    const files = openBucket({ client, clock: systemClock, log: silentLog, quota, serves: false, leftoverAgeMs: 0 });
    return { quota, files };
  };
  const { prefix } = client.settings;
  return Promise.resolve({
    ...reopen(),
    reopen,
    async names() {
      const objects = await client.document({ method: "GET", name: null, query: { "list-type": "2", prefix } });
      const uploads = await client.document({ method: "GET", name: null, query: { uploads: "", prefix } });
      const keys = [...elementsIn(objects, "Contents"), ...elementsIn(uploads, "Upload")];
      return keys.map((each) => textIn(each, "Key")!.slice(prefix.length));
    },
    async addForeign() {
      await (await MultipartUpload.start(client, "c.mp4", {})).add(new Uint8Array(100));
      const body = new TextEncoder().encode("whole");
      (await client.send({ method: "PUT", name: "Foreign.txt", body })).cancel();
      return "Foreign.txt";
    },
    close() {
      http.close();
      return Promise.resolve();
    },
  });
}, ignore);

Deno.test({
  ...options,
  name: "the check of a bucket names what is wrong",
  async fn() {
    const settings = newSettings();
    await checkBucket(settings, network);
    const { credentials } = settings;
    const cases = [
      [{ ...settings, bucket: "missing" }, /the bucket does not exist: create it/],
      [{ ...settings, credentials: { ...credentials, secretAccessKey: "wrong-secret" } }, /the signature is rejected/],
      [{ ...settings, credentials: { ...credentials, accessKeyId: "AKIAUNKNOWN" } }, /the access key id is unknown/],
      [{ ...settings, endpoint: "http://127.0.0.1:9" }, /no response \(connect\)/],
    ] as const;
    for (const [bad, message] of cases) {
      const error = await assertRejects(() => checkBucket(bad, network), BucketError);
      assertMatch(error.message, message);
      assertEquals(error.message.includes("wrong-secret"), false);
    }
  },
});

Deno.test({
  ...options,
  name: "a video is copied to the bucket, and served whole and by range",
  async fn() {
    const settings = newSettings();
    const { client } = clientOf(settings);
    const gateway = await startVideoGateway({ config: bucketSections(settings) });
    try {
      const id = await gateway.create();
      const address = await mirrored(gateway, id);
      const whole = await fetch(address);
      const bytes = await whole.bytes();
      const etag = whole.headers.get("etag")!;
      assertEquals([whole.status, whole.headers.get("content-type")], [200, "video/mp4"]);
      const objects = () => client.document({ method: "GET", name: null, query: { "list-type": "2" } });
      assertEquals(
        textIn(elementsIn(await objects(), "Contents").find((each) => each.includes(settings.prefix))!, "Size"),
        String(bytes.length),
      );
      const part = await fetch(address, { headers: { range: "bytes=10-19", "if-range": etag } });
      assertEquals([part.status, part.headers.get("content-range")], [206, `bytes 10-19/${bytes.length}`]);
      assertEquals(await part.bytes(), bytes.slice(10, 20));
      const changed = await fetch(address, { headers: { range: "bytes=10-19", "if-range": '"other"' } });
      assertEquals([changed.status, (await changed.bytes()).length], [200, bytes.length]);
      const beyond = await fetch(address, { headers: { range: "bytes=999999999-" } });
      await beyond.body?.cancel();
      assertEquals(beyond.status, 416);
      const head = await fetch(address, { method: "HEAD" });
      assertEquals([head.status, head.headers.get("content-length")], [200, String(bytes.length)]);
      const unchanged = await fetch(address, { headers: { "if-none-match": etag } });
      assertEquals(unchanged.status, 304);
      assertEquals(gateway.logLines.join("").includes(settings.credentials.secretAccessKey), false);
    } finally {
      await gateway.stop();
    }
  },
});

Deno.test({
  ...options,
  name: "files_serve: redirect sends readers to the bucket, but answers HEAD itself",
  async fn() {
    const settings = newSettings();
    const gateway = await startVideoGateway({ config: { ...bucketSections(settings), files_serve: "redirect" } });
    try {
      const id = await gateway.create();
      const address = await mirrored(gateway, id);
      const sent = await fetch(address, { redirect: "manual" });
      await sent.body?.cancel();
      assertEquals([sent.status, sent.headers.get("cache-control")], [307, "private, no-store"]);
      const location = new URL(sent.headers.get("location")!);
      assertEquals(location.pathname, `/results/${settings.prefix}${new URL(address).pathname.split("/").at(-1)}`);
      assertEquals(location.searchParams.get("X-Amz-Expires"), "300");
      assertEquals(await signatureByBoto(location, settings), location.searchParams.get("X-Amz-Signature"));
      const head = await fetch(address, { method: "HEAD", redirect: "manual" });
      assertEquals(head.status, 200);
    } finally {
      await gateway.stop();
    }
  },
});

Deno.test({
  ...options,
  name: "without its bucket a gateway does not start, and says why",
  async fn() {
    const settings = { ...newSettings(), bucket: "missing" };
    await assertRejects(
      () => startVideoGateway({ config: bucketSections(settings) }),
      BucketError,
      "the bucket does not exist: create it",
    );
  },
});

Deno.test({
  ...options,
  name: "while the bucket is away a result is served from its vendor, and copied later",
  async fn() {
    const relay = startRelay(server!.address);
    const settings = { ...newSettings(), endpoint: relay.address };
    const gateway = await startVideoGateway({ config: bucketSections(settings) });
    try {
      relay.refuse(true);
      const id = await gateway.create();
      const task = await gateway.until(id, "completed");
      const [address] = task.mirror_urls as string[];
      await logged(gateway, /video_mirror_failed.*Cannot use the bucket/);
      const streamed = await fetch(address!);
      assertEquals([streamed.status, streamed.headers.get("cache-control")], [200, "private, no-store"]);
      const bytes = await streamed.bytes();
      relay.refuse(false);
      const copied = await fetch(await mirrored(gateway, id));
      assertEquals([copied.headers.get("cache-control"), await copied.bytes()], ["private, max-age=3600", bytes]);
    } finally {
      await gateway.stop();
      await relay.stop();
    }
  },
});

/** The sections of a configuration with a bucket. */
function bucketSections({ bucket, prefix, endpoint, credentials }: ReturnType<typeof newSettings>) {
  return {
    files: `s3://${bucket}/${prefix}?endpoint=${endpoint}`,
    files_folder: `${folder}/local`,
    files_credentials: { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey },
  };
}

/** Waits until the result of a video is copied; returns its signed address. */
async function mirrored(gateway: VideoGateway, id: string): Promise<string> {
  const { mirror_urls: [address] } = await gateway.until(id, "completed") as { mirror_urls: string[] };
  await logged(gateway, new RegExp(`"video_mirrored".*${id}|${id}.*"video_mirrored"`));
  return address!;
}

async function logged({ logLines }: VideoGateway, pattern: RegExp): Promise<void> {
  await untilSo(() => logLines.some((line) => pattern.test(line)));
}

/** The signature of a presigned address by the client of AWS, for the same time. */
async function signatureByBoto(location: URL, { credentials, region }: ReturnType<typeof newSettings>) {
  const unsigned = new URL(location);
  const date = location.searchParams.get("X-Amz-Date")!;
  for (const name of [...unsigned.searchParams.keys()].filter((each) => each.startsWith("X-Amz-"))) {
    unsigned.searchParams.delete(name);
  }
  const program = `
import datetime, sys, botocore.auth, botocore.awsrequest, botocore.credentials
url, date, key, secret, region = sys.argv[1:]
at = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
botocore.auth.get_current_datetime = lambda *args, **kwargs: at
request = botocore.awsrequest.AWSRequest(method="GET", url=url)
botocore.auth.S3SigV4QueryAuth(botocore.credentials.Credentials(key, secret), "s3", region, 300).add_auth(request)
print(request.url)
`;
  const { accessKeyId, secretAccessKey } = credentials;
  const { stdout, stderr } = await new Deno.Command(`${folder}/bin/python`, {
    args: ["-c", program, unsigned.href, date, accessKeyId, secretAccessKey, region],
  }).output();
  const url = URL.parse(new TextDecoder().decode(stdout).trim());
  if (url === null) throw new Error(new TextDecoder().decode(stderr));
  assertEquals(url.searchParams.get("X-Amz-Date"), date);
  return url.searchParams.get("X-Amz-Signature");
}

/** Passes connections on, or closes all of them. */
function startRelay(target: string) {
  let isRefusing = false;
  const open = new Set<Deno.Conn>();
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const pass = async (inbound: Deno.Conn) => {
    const outbound = await Deno.connect({ port: Number(new URL(target).port), hostname: "127.0.0.1" });
    open.add(inbound).add(outbound);
    const ignore = () => {};
    inbound.readable.pipeTo(outbound.writable).catch(ignore);
    outbound.readable.pipeTo(inbound.writable).catch(ignore);
  };
  const closeAll = () => {
    for (const each of open) {
      try {
        each.close();
      } catch { /* closed by its other side */ }
    }
    open.clear();
  };
  const accepting = (async () => {
    for await (const inbound of listener) {
      if (isRefusing) inbound.close();
      else await pass(inbound);
    }
  })();
  return {
    address: `http://127.0.0.1:${listener.addr.port}`,
    refuse(value: boolean) {
      isRefusing = value;
      if (value) closeAll();
    },
    async stop() {
      listener.close();
      closeAll();
      await accepting;
    },
  };
}

import type { Clock } from "../../lib/basics/clock.ts";
import type { Log } from "../../lib/basics/log.ts";
import { createHttpClient } from "../../net/http1/client.ts";
import type { Proxies } from "../../net/proxy.ts";
import type { FileStore } from "../files.ts";
import type { DiskQuota } from "../quota.ts";
import { openBucket } from "./bucket.ts";
import { BucketClient, type BucketSettings } from "./bucket_client.ts";
import { BucketError } from "./bucket_error.ts";
import { finish } from "./object_head.ts";

/** The network of a bucket. */
export interface BucketNetwork {
  readonly clock: Clock;
  /** Additional trusted root certificates in PEM. */
  readonly caCerts: readonly string[];
  readonly proxies: Proxies;
}

/** Opens the files of a bucket. Nothing is sent before the first call. */
export function openBucketFiles(
  settings: BucketSettings & { readonly serve: "proxy" | "redirect" },
  { network, quota, log }: { readonly network: BucketNetwork; readonly quota: DiskQuota; readonly log: Log },
): FileStore {
  const client = clientOf(settings, network);
  return openBucket({ client, clock: network.clock, log, quota, serves: settings.serve === "redirect" });
}

/** The object with which {@linkcode checkBucket} tries to write. It is not the name of a file. */
const PROBE = ".switchyard-check";

/**
 * Checks that files can be listed in a bucket, written, read and removed.
 *
 * @throws {BucketError} With what to do.
 */
export async function checkBucket(settings: BucketSettings, network: BucketNetwork): Promise<void> {
  const client = clientOf(settings, network);
  const query = { "list-type": "2", prefix: settings.prefix, "max-keys": "1" };
  await client.document({ method: "GET", name: null, query });
  const name = `${PROBE}-${crypto.randomUUID()}`;
  const body = new TextEncoder().encode("check");
  await finish(client, await client.send({ method: "PUT", name, body }));
  try {
    const read = await client.document({ method: "GET", name });
    if (read !== "check") throw new BucketError(settings, "WrongContent", 200);
  } finally {
    await finish(client, await client.send({ method: "DELETE", name }));
  }
}

function clientOf(settings: BucketSettings, { clock, caCerts, proxies }: BucketNetwork): BucketClient {
  const client = createHttpClient({ clock, caCerts, proxies });
  return new BucketClient({ settings, client, clock, random: Math.random });
}

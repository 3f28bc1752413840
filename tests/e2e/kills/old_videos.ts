import { startApp } from "../../../src/entry/app/app.ts";
import { readConfig } from "../../../src/config/config.ts";
import { type Clock, systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { itemAt } from "../../support/items.ts";
import type { VideoFacts } from "./video_facts.ts";
import { MODELS } from "./video_orders.ts";
import { stateOf } from "../../support/patience.ts";

const HOUR_MS = 3_600_000;

/** Retention of ended videos, in seconds. */
export const RETENTION = { tasks: 12 * 3_600, deliveries: 12 * 3_600, files: 6 * 3_600 };

/** Creates videos that exceed the retention when the gateway starts: some completely, some only with their files. */
export async function createOldVideos(
  config: string,
  key: string,
  facts: VideoFacts,
  count: number,
): Promise<void> {
  for (const id of await makeVideos(config, key, facts, { ageMs: 24 * HOUR_MS, count })) facts.outdated.add(id);
  for (const id of await makeVideos(config, key, facts, { ageMs: 8 * HOUR_MS, count })) facts.withoutFiles.add(id);
}

/** Returns the ids of videos that a gateway created in the past, with copies. */
async function makeVideos(
  config: string,
  key: string,
  facts: VideoFacts,
  { ageMs, count }: { readonly ageMs: number; readonly count: number },
): Promise<string[]> {
  const clock: Clock = { ...systemClock, now: () => Date.now() - ageMs };
  const app = await startApp({
    config: readConfig(await Deno.readTextFile(config), config, () => undefined),
    log: silentLog,
    clock,
  });
  const call = callerOf(app.address, { authorization: `Bearer ${key}` });
  const ids = await Promise.all(Array.from({ length: count }, async () => {
    const number = -(facts.orders.size + 1);
    const body = {
      model: itemAt(MODELS, 0).id,
      prompt: `Video ${number} [[queue 0]] [[run 0]]`,
      metadata: { number: `${number}` },
    };
    const order = {
      number,
      model: itemAt(MODELS, 0),
      idempotencyKey: null,
      failures: 0,
      isRejected: false,
      body: JSON.stringify(body),
    };
    facts.orders.set(number, order);
    return (await call("POST", "/v1/videos", order.body)).json.id;
  }));
  for (const id of ids) {
    const read = async () => {
      const { json: task } = await call("GET", `/v1/videos/${id}`);
      return { task, isCopied: task.status === "completed" && await hasCopy(task.mirror_urls[0]) };
    };
    await stateOf(`${id} is copied`, read, ({ isCopied }) => isCopied);
  }
  await app.stop();
  return ids;
}

/** An existing copy has an ETag. */
async function hasCopy(url: string): Promise<boolean> {
  const answer = await fetch(url);
  await answer.body?.cancel();
  return answer.headers.has("etag");
}

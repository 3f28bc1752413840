import { assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { verifyLedger } from "../../../src/money/billing/verify_ledger.ts";
import { readMoney } from "../../../src/platform/lib/basics/money.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/mod.ts";
import type { StoreEngine } from "../../../src/platform/store/engine.ts";
import { LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { assertCallsPaid } from "./call_laws.ts";
import { START_BALANCE } from "./config.ts";
import { KillPoints } from "./kill_points.ts";
import { type Acknowledged, type CallKind, nothingAcknowledged } from "./load.ts";
import { type EventReceiver, startEventReceiver } from "./receiver.ts";
import { type ReportedTask, VideoFacts } from "./video_facts.ts";
import { assertVideosPaid } from "./video_laws.ts";
import { SeenVideos } from "./video_vendors.ts";

/** What gateways under load that are killed have in common: vendors, a receiver of events, a folder and counters. */
export interface KillStage {
  readonly sandbox: Sandbox;
  readonly receiver: EventReceiver;
  /** Has the certificate of the receiver's root, `root.pem`. */
  readonly folder: string;
  readonly key: string;
  readonly adminKey: string;
  readonly moments: KillPoints;
  readonly facts: VideoFacts;
  /** The requests that vendors of videos received. */
  readonly seen: SeenVideos;
  /** The requests that other vendors received. */
  readonly asked: Readonly<Record<CallKind, number>>;
  readonly acknowledged: Acknowledged;
  stop(): Promise<void>;
}

/** Starts the vendors and the receiver. */
export async function startKillStage(): Promise<KillStage> {
  const asked: Record<CallKind, number> = { text: 0, image: 0, cache: 0 };
  const moments = new KillPoints();
  const seen = new SeenVideos();
  const sandbox = await startSandbox({
    port: 0,
    onRequest(request) {
      const { method, path } = request;
      if (method === "POST" && path.endsWith("/messages")) asked.text++;
      else if (method === "POST" && path.endsWith("/images/generations")) asked.image++;
      else if (method === "POST" && path.endsWith("/cachedContents")) asked.cache++;
      const moment = seen.note(request);
      if (moment !== null) moments.report(moment);
    },
  });
  const facts = new VideoFacts();
  const receiver = startEventReceiver(facts, () => moments.report("event"));
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/root.pem`, LOOPBACK_ROOT);
  return {
    sandbox,
    receiver,
    folder,
    key: newApiKey(),
    adminKey: newApiKey(),
    moments,
    facts,
    seen,
    asked,
    acknowledged: nothingAcknowledged(),
    async stop() {
      await receiver.stop();
      await sandbox.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The ledger has no differences, nothing is held, and the balance is what all calls and videos cost. */
export async function assertMoneyExact(
  store: StoreEngine,
  { facts, acknowledged, asked }: KillStage,
  tasks: readonly ReportedTask[],
): Promise<void> {
  assertEquals((await verifyLedger(store)).differences, []);
  const spent = await assertCallsPaid(store, "demo", acknowledged, asked) +
    await assertVideosPaid(store, "demo", tasks, facts);
  const balance = await store.balance("demo");
  assertEquals(balance.held, 0n, "nothing is held at the end");
  assertEquals(balance.available, readMoney(START_BALANCE) - spent, "the balance is what the ledger says");
}

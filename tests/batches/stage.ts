import { Batches } from "../../src/services/batches/batches.ts";
import type { NewBatch } from "../../src/services/batches/new_batch.ts";
import { type BatchParts, MAX_READS_OF_ACCOUNT } from "../../src/services/batches/settling/batch_parts.ts";
import type { LineReply, LineRequest } from "../../src/services/batches/lines/line_runner.ts";
import { batchSweep, cleanHandler, eraseBatches } from "../../src/services/batches/retention.ts";
import { BatchRuns } from "../../src/services/batches/run.ts";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { issueKey } from "../../src/money/billing/keys/issued_key.ts";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { FairPermits } from "../../src/platform/lib/collections/permits.ts";
import type { JobHandler } from "../../src/platform/store/job_runner.ts";
import { AccountRoom } from "../../src/services/stored_files/account_room.ts";
import { lineBytesOf } from "../../src/services/batches/records/records.ts";
import { StoredFiles } from "../../src/services/stored_files/stored_files.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { FakeBatches } from "./fake_batches.ts";
import { FakeTasks } from "./fake_tasks.ts";

/** What a line costs in a vendor's batch. */
export const VENDOR_COST = 2n;
const MAX_TURNS = 2_000;
/** The reply of a gateway without memory or storage. */
const FULL: LineReply = { requestId: "", status: 503, body: new TextEncoder().encode("{}"), charge: null };

/** What a fake endpoint answers to a line. */
export type FakeAnswer = Partial<Pick<LineReply, "status">> & { readonly cost?: Money; readonly text?: string };

/** Batches over a store in memory, whose lines a test answers. */
export async function openBatchStage(
  answer: (text: string, signal: AbortSignal) => FakeAnswer | Promise<FakeAnswer>,
  part = 10n,
  permits = 16,
) {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const folder = await Deno.makeTempDir();
  const files = openFileDirectory(folder);
  await createAccount(store, { id: "demo", balance: 1_000n });
  const { key } = await issueKey(store, "demo");
  const credential = { keyId: key.id, accountId: "demo", limits: null, capture: null };
  const stored = new StoredFiles({ store, files, log: silentLog, retentionMs: () => null });
  const vendor = new FakeBatches(clock);
  const tasks = new FakeTasks(store);
  const stage = { isBusy: false, ran: [] as string[], vendor, refused: 0, isFull: false, maxBytes: 1e9 };
  const textOf = ({ body }: LineRequest): string => JSON.parse(new TextDecoder().decode(body)).text;
  const parts: BatchParts = {
    store,
    files,
    stored,
    room: new AccountRoom({
      store,
      clock,
      maxBytes: () => stage.maxBytes,
      otherBytes: (account) => lineBytesOf(store, account),
    }),
    meter: createMeter({ store, clock, log: silentLog }),
    clock,
    log: silentLog,
    egress: { allow: [], own: [], clock },
    isTestReceiver: () => false,
    runner: {
      estimate: ({ body }) => {
        const { vendor } = JSON.parse(new TextDecoder().decode(body));
        return Promise.resolve({ part, route: vendor === undefined ? null : { provider: vendor, model: "m" } });
      },
      compose: ({ request: { endpoint: path, body } }) =>
        Promise.resolve(stage.isFull ? { reply: FULL } : { call: { path, headers: {}, body } }),
      answer: (_line, reply) =>
        stage.refused-- > 0 ? Promise.resolve(FULL) : Promise.resolve({
          requestId: "req_vendor",
          ...reply,
          charge: reply.status >= 400
            ? null
            : { requestId: "r", keyId: key.id, kind: "text" as const, model: "m", provider: "p", amount: VENDOR_COST },
        }),
      refuse: (_line, { status, message }) =>
        Promise.resolve({
          requestId: "req_refused",
          status,
          body: new TextEncoder().encode(JSON.stringify({ error: { message } })),
          charge: null,
        }),
      batchesOf: (provider) => Promise.resolve(provider === "vendor" ? vendor : null),
      async run(line, _part, signal) {
        const text = textOf(line);
        stage.ran.push(text);
        const { status = 200, cost = 3n, text: reply = text } = await answer(text, signal);
        const requestId = `req_${text}`;
        const charge = status >= 400 || cost === 0n
          ? null
          : { requestId, keyId: key.id, kind: "text" as const, model: "m", provider: "p", amount: cost };
        return { requestId, status, body: new TextEncoder().encode(JSON.stringify({ reply })), charge };
      },
      isBusy: () => stage.isBusy,
    },
    tasks,
    write: ({ id, status }) => ({ id, status }),
    countLines: () => {},
    maxLineBytes: () => 1_000_000,
    permits: new FairPermits({ inAll: permits }),
    readers: new FairPermits({ each: MAX_READS_OF_ACCOUNT }),
  };
  const runs = new BatchRuns(parts);
  const batches = new Batches(parts, runs);
  const removal = { store, files, onRemoval: () => Promise.resolve(true), log: silentLog };
  async function work(handler: JobHandler, kind: string): Promise<void> {
    const [job] = await store.claim([kind], 1, 30_000);
    if (job === undefined) throw new Error(`No job of the kind ${kind} is due`);
    await handler(job, { signal: new AbortController().signal, renewals: 0 });
  }
  const newBatch = (lines: readonly string[], toVendor: boolean | ((text: string) => boolean)): NewBatch => {
    const isToVendor = (text: string) => typeof toVendor === "boolean" ? toVendor : toVendor(text);
    return {
      endpoint: "/v1/embeddings",
      inputFileId: null,
      lines: async function* () {
        for (const text of lines) {
          yield await Promise.resolve(
            new TextEncoder().encode(
              `${JSON.stringify({ custom_id: text, body: { text, ...isToVendor(text) && { vendor: "vendor" } } })}\n`,
            ),
          );
        }
      }(),
      completionWindow: "24h",
      metadata: null,
      callbackUrl: null,
      outputSeconds: null,
    };
  };
  return {
    ...stage,
    stage,
    tasks,
    clock,
    store,
    stored,
    folder,
    batches,
    runs,
    keyId: key.id,
    createWith: async (lines: readonly string[], more: Partial<NewBatch>) =>
      (await batches.create({ ...newBatch(lines, false), ...more }, credential)).id,
    create: async (lines: readonly string[], toVendor: boolean | ((text: string) => boolean) = false) =>
      (await batches.create(newBatch(lines, toVendor), credential)).id,
    /** Runs the next due job of a batch. */
    run: () => work(runs.handler, "batch_run"),
    /** The same in another process. */
    runElsewhere: () => work(new BatchRuns(parts).handler, "batch_run"),
    /** Runs all jobs of batches until none is open, with the time that they wait for. */
    async runToEnd(id: string, elsewhere = false) {
      for (let turn = 0; turn < MAX_TURNS; turn++) {
        const [due = null] = await store.jobDueTimes("batch_run", [id]);
        if (due === null) return;
        clock.advance(Math.max(0, due - clock.now()));
        await work(elsewhere ? new BatchRuns(parts).handler : runs.handler, "batch_run");
      }
      throw new Error("The batch did not end");
    },
    clean: () => work(cleanHandler(removal), "batch_clean"),
    sweep: batchSweep(removal, 86_400_000),
    erase: () => eraseBatches(removal, "demo"),
    read: (id: string) => batches.read(key.id, id),
    names: () => Array.from(Deno.readDirSync(folder), ({ name }) => name).sort(),
    /** The parsed lines of a file. */
    async linesOf(fileId: string | null) {
      if (fileId === null) return [];
      const { stream } = await stored.open(await stored.read(key.id, fileId));
      return (await new Response(stream).text()).trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

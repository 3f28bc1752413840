import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { fileSink } from "../../../src/platform/store/journal/file_sink.ts";
import { Journal, type JournalSink, NO_SINK } from "../../../src/platform/store/journal/journal.ts";
import { keepDamagedSegment, readJournal, segmentPathOf } from "../../../src/platform/store/journal/journal_folder.ts";
import { journalThread, threadSink } from "../../../src/platform/store/journal/thread_sink.ts";
import type { JournalTask } from "../../../src/platform/store/journal/thread_sink.ts";
import { JournalWriteError } from "../../../src/platform/store/store_errors.ts";
import type { WorkerThreadEvents } from "../../../src/platform/workers/worker_thread.ts";
import { recordingLog } from "../../billing/support.ts";
import { itemAt } from "../../support/items.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function journalOver(sink: JournalSink, maxSegmentBytes = 1_000): Journal {
  const journal = new Journal({ log: silentLog, maxSegmentBytes });
  journal.open(sink, 1);
  return journal;
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("an append to files returns nothing, and the record is in the file", () =>
  inFolder(async (folder) => {
    const journal = journalOver(fileSink(folder));
    journal.hold();
    assertEquals(journal.append("one"), undefined);
    assertEquals((await readJournal(folder)).texts, ["one"]);
    assertEquals((await Deno.stat(segmentPathOf(folder, 1))).mode! & 0o777, 0o600);
    await journal.close();
    assertEquals((await readJournal(folder)).texts, ["one"], "a held segment stays");
  }));

Deno.test("full segments are removed when nobody holds them, in any order", () =>
  inFolder(async (folder) => {
    const journal = journalOver(fileSink(folder), 100);
    const held: number[] = [];
    for (let i = 0; i < 3; i++) {
      journal.append("x".repeat(100));
      journal.hold();
      held.push(journal.segment);
    }
    assertEquals(held, [1, 2, 3]);
    journal.release(2);
    journal.append("x");
    journal.hold();
    journal.release(4);
    await journal.close();
    assertEquals(namesIn(folder), ["000000000001.log", "000000000003.log"]);
  }));

Deno.test("a closed journal without held segments leaves no file", () =>
  inFolder(async (folder) => {
    const journal = journalOver(fileSink(folder));
    journal.append("one");
    journal.hold();
    journal.release(journal.segment);
    await journal.close();
    assertEquals(namesIn(folder), []);
    assertThrows(() => journal.append("late"), Error, "not open");
  }));

Deno.test("a journal of a large size that nobody holds is replaced, so that a replay is short", () =>
  inFolder(async (folder) => {
    const journal = journalOver(fileSink(folder), 1_000_000);
    for (let i = 0; i < 70; i++) journal.append("x".repeat(1_000));
    journal.hold();
    journal.release(1);
    assertEquals(journal.segment, 2);
    await journal.close();
    assertEquals(namesIn(folder), []);
  }));

Deno.test("a failed append throws, is logged once, and later appends succeed", () => {
  const log = recordingLog();
  const journal = new Journal({ log });
  let isFull = true;
  journal.open({
    ...NO_SINK,
    append() {
      if (isFull) throw new Error("disk full");
    },
  }, 1);
  for (let i = 0; i < 2; i++) assertThrows(() => journal.append("a"), Error, "disk full");
  assertEquals(log.lines.map(({ event }) => event), ["journal_unwritable"]);
  isFull = false;
  assertEquals(journal.append("b"), undefined);
  assertEquals(log.lines.map(({ event }) => event), ["journal_unwritable", "journal_writable"]);
});

Deno.test("an append that writes only a part of a record leaves the next record readable", () =>
  inFolder(async (folder) => {
    const files = fileSink(folder);
    let partBytes = 0;
    const journal = journalOver({
      ...files,
      append(segment, bytes) {
        if (partBytes === 0) return files.append(segment, bytes);
        files.append(segment, bytes.subarray(0, partBytes));
        throw new Error("disk full");
      },
    });
    journal.append("one");
    for (partBytes = 1; partBytes < 13; partBytes++) assertThrows(() => journal.append("two"));
    partBytes = 0;
    journal.append("three");
    assertEquals((await readJournal(folder)).texts, ["one", "three"]);
    await files.close();
  }));

Deno.test("a segment that is kept as damaged is not read again, and its number is not used again", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(segmentPathOf(folder, 7), "\ngarbage\n");
    assertEquals((await readJournal(folder)).damaged, new Map([[7, 7]]));
    await keepDamagedSegment(folder, 7);
    const { segments, nextSegment } = await readJournal(folder);
    assertEquals([segments, nextSegment], [[], 8]);
  }));

Deno.test("a missing folder is an empty journal", async () => {
  const { segments, nextSegment } = await readJournal("/nonexistent/journal");
  assertEquals([segments, nextSegment], [[], 1]);
});

/** A thread whose syncs a test completes. */
function fakeThread() {
  const tasks: JournalTask[] = [];
  let threads = 0;
  let events: WorkerThreadEvents | null = null;
  const sink = threadSink((given) => {
    events = given;
    threads++;
    return { post: (message) => void tasks.push(message as JournalTask), terminate() {}, setReferenced() {} };
  }, silentLog);
  return {
    sink,
    tasks,
    done: (failure: string | null = null) => events?.onMessage({ failure }),
    crash: () => events?.onCrash("out of memory"),
    threads: () => threads,
  };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("a thread's append resolves after its sync, not before; appends of one turn share a message", async () => {
  const { sink, tasks, done } = fakeThread();
  const order: string[] = [];
  const journal = journalOver(sink, 1_000_000);
  const first = ["a", "b"].map((text) => Promise.resolve(journal.append(text)).then(() => order.push(text)));
  await turn();
  assertEquals([tasks.length, order], [1, []]);
  const second = Promise.resolve(journal.append("c")).then(() => order.push("c"));
  await turn();
  assertEquals([tasks.length, order], [1, []], "the next message waits for the sync in progress");
  order.push("synced");
  done();
  await Promise.all(first);
  assertEquals([tasks.length, order], [2, ["synced", "a", "b"]]);
  done();
  await second;
});

Deno.test("a failed sync rejects its appends only; the end of the thread rejects all", async () => {
  const { sink, done, crash } = fakeThread();
  const journal = journalOver(sink);
  const first = Promise.resolve(journal.append("a"));
  await turn();
  const second = Promise.resolve(journal.append("b"));
  done("ENOSPC");
  await assertRejects(() => first, Error, "ENOSPC");
  done();
  await second;
  const third = Promise.resolve(journal.append("c"));
  await turn();
  const fourth = Promise.resolve(journal.append("d"));
  crash();
  await assertRejects(() => third, Error, "out of memory");
  await assertRejects(() => fourth, Error, "out of memory");
  await journal.close();
});

Deno.test("after the end of a thread the next append starts another, until three have not answered", async () => {
  const { sink, tasks, done, crash, threads } = fakeThread();
  const journal = journalOver(sink);
  crash();
  const first = Promise.resolve(journal.append("a"));
  await turn();
  assertEquals([threads(), tasks.length], [2, 1]);
  done();
  await first;
  for (const text of ["b", "c", "d"]) {
    const lost = Promise.resolve(journal.append(text));
    await turn();
    crash();
    await assertRejects(() => lost, JournalWriteError, "the thread of the journal ended: out of memory");
  }
  assertEquals(threads(), 4);
  assertThrows(() => journal.append("e"), JournalWriteError, "out of memory");
  assertEquals(threads(), 4);
  await journal.close();
});

Deno.test("a segment is removed by the thread after the writes to it", async () => {
  const { sink, tasks, done } = fakeThread();
  const journal = journalOver(sink, 10);
  const appended = Promise.resolve(journal.append("more than ten bytes"));
  journal.hold();
  await turn();
  journal.append("next segment");
  journal.release(1);
  done();
  await appended;
  const parts = itemAt(tasks, 1).parts.map(({ segment, bytes }) => [segment, bytes === null]);
  assertEquals(parts, [[2, false], [1, true]]);
});

Deno.test("the real thread writes, syncs and removes segments", () =>
  inFolder(async (folder) => {
    const journal = journalOver(threadSink(journalThread(folder), silentLog), 100);
    const appended: (void | Promise<void>)[] = [];
    for (let i = 0; i < 5; i++) {
      appended.push(journal.append(`${i}`.repeat(100)));
      if (i < 4) journal.hold();
    }
    await Promise.all(appended);
    assertEquals((await readJournal(folder)).texts.length, 5);
    for (const segment of [1, 3]) journal.release(segment);
    await journal.close();
    assertEquals(namesIn(folder), ["000000000002.log", "000000000004.log"]);
  }));

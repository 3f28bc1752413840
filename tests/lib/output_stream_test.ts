import { assertEquals, assertRejects } from "@std/assert";
import {
  iteratorStream,
  onStreamFailure,
  outputStream,
  type StreamOutput,
} from "../../src/platform/lib/streams/output_stream.ts";

/** A stream that a test writes, and its output. */
function written(strategy?: QueuingStrategy<string>, cancel: () => void = () => {}) {
  let output: StreamOutput<string> | null = null;
  const stream = outputStream<string>({ start: (given) => void (output = given), cancel }, strategy);
  if (output === null) throw new Error("A stream starts at once");
  return { stream, output: output as StreamOutput<string> };
}

/** Collects the failures that are reported while a test runs. */
async function reported(test: () => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = [];
  const end = onStreamFailure((failure) => failures.push(failure));
  await test();
  end();
  return failures;
}

const broken = new Error("broken");

for (const end of ["close", "error", "cancel"] as const) {
  Deno.test(`outputStream() ignores everything that is written after ${end}`, async () => {
    const { stream, output } = written();
    assertEquals([output.isOver, output.desiredSize], [false, 1]);
    if (end === "cancel") await stream.cancel();
    else output[end]("the end");
    assertEquals([output.isOver, output.desiredSize], [true, -1]);
    output.enqueue("late");
    output.close();
    output.error(broken);
    output.fail(broken);
    if (end === "error") await assertRejects(() => stream.getReader().read());
    else assertEquals((await stream.getReader().read()).done, true);
  });
}

Deno.test("outputStream() lets a reader leave within enqueue", async () => {
  let cancels = 0;
  // The platform asks for the size within the call.
  const size = () => {
    void stream.cancel();
    return 1;
  };
  const { stream, output } = written({ size, highWaterMark: 1 }, () => void cancels++);
  output.enqueue("last");
  assertEquals([output.isOver, cancels], [true, 1]);
  output.close();
  assertEquals((await stream.getReader().read()).done, true);
});

for (const at of ["start", "pull"] as const) {
  for (const how of ["throws", "rejects"] as const) {
    Deno.test(`outputStream() ends a stream whose ${at} ${how} with its last chunk, and reports the failure`, async () => {
      const fail = () => {
        if (how === "throws") throw broken;
        return Promise.reject(broken);
      };
      const failures = await reported(async () => {
        const own = outputStream<string>({ [at]: fail, lastChunk: (failure) => String(failure) });
        assertEquals(await Array.fromAsync(own), ["Error: broken"]);
        const bare = outputStream<string>({ [at]: fail });
        await assertRejects(() => Array.fromAsync(bare), Error, "broken");
      });
      assertEquals(failures, [broken, broken]);
    });
  }
}

Deno.test("outputStream() reports a failure of cancel, and the reader does not see it", async () => {
  const failures = await reported(async () => {
    await outputStream({ cancel: () => Promise.reject(broken) }).cancel();
    await outputStream({
      cancel() {
        throw broken;
      },
    }).cancel();
  });
  assertEquals(failures, [broken, broken]);
});

Deno.test("outputStream() does not report what a reader interrupts by leaving", async () => {
  const failures = await reported(async () => {
    const pulled = Promise.withResolvers<void>();
    const stream = outputStream({ pull: () => pulled.promise });
    await stream.cancel();
    pulled.reject(broken);
    await pulled.promise.catch(() => {});
  });
  assertEquals(failures, []);
});

Deno.test("run() of an output ends the stream if the function throws", async () => {
  const failures = await reported(async () => {
    const { stream, output } = written();
    output.run(() => {
      throw broken;
    });
    await assertRejects(() => stream.getReader().read(), Error, "broken");
  });
  assertEquals(failures, [broken]);
});

Deno.test("iteratorStream() reads on demand, and ends the iterator of a reader that leaves", async () => {
  const seen: string[] = [];
  function* items() {
    try {
      for (const item of ["a", "b"]) {
        seen.push(item);
        yield item;
      }
    } finally {
      seen.push("end");
    }
  }
  assertEquals(await Array.fromAsync(iteratorStream(items())), ["a", "b"]);
  const reader = iteratorStream(items()).getReader();
  await reader.read();
  await reader.cancel();
  assertEquals(seen, ["a", "b", "end", "a", "end"]);
});

/**
 * The vendor of the benchmark where no C compiler is installed, and of the check of processor time: canned bytes over
 * raw TCP. The first segment of a path is the {@linkcode Mode} of the reply, the rest is the path of the wire format.
 * It prints its address when it listens. `native/upstream.c` does the same at a lower cost.
 */
import { BENCH_FORMATS, type BenchFormat, type Mode, MODES } from "./load_request.ts";
import { cannedReply } from "./canned_replies.ts";
import { Pacer } from "./pacer.ts";
import { RequestSplitter } from "./request_splitter.ts";

/** The writes for one request, by mode; several of them are paced. */
type Answers = Readonly<Record<Mode, readonly Uint8Array<ArrayBuffer>[]>>;

const ANSWERS = Object.fromEntries(BENCH_FORMATS.map((wire) => [wire, answersOf(wire)])) as Record<
  BenchFormat,
  Answers
>;

function answersOf(wire: BenchFormat): Answers {
  return Object.fromEntries(MODES.map((mode) => [mode, cannedReply(wire, mode)])) as Record<Mode, Answers[Mode]>;
}

/** Answers the requests of one connection in order, until the client disconnects. */
async function serve(connection: Deno.TcpConn, pacer: Pacer): Promise<void> {
  connection.setNoDelay(true);
  const requests = new RequestSplitter();
  const buffer = new Uint8Array(64 * 1024);
  try {
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) return;
      for (const path of requests.take(buffer.subarray(0, count))) {
        await pacer.write(connection, answerTo(path));
      }
    }
  } catch {
    // A generator that has measured enough disconnects during a reply.
  } finally {
    connection.close();
  }
}

const NOT_FOUND = [new TextEncoder().encode("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")];

function answerTo(path: string): readonly Uint8Array<ArrayBuffer>[] {
  const mode = MODES.find((one) => path.startsWith(`/${one}/`));
  if (mode === undefined) return NOT_FOUND;
  if (path.includes("/chat/completions")) return ANSWERS.chat[mode];
  return path.includes("/messages") ? ANSWERS.messages[mode] : ANSWERS.content[mode];
}

if (import.meta.main) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const pacer = new Pacer();
  console.log(`http://127.0.0.1:${listener.addr.port}`);
  for await (const connection of listener) void serve(connection, pacer);
}

/**
 * Vendor and caller in one thread, for `garbage.ts`: raw TCP, so that the measured thread allocates nothing for them.
 * One request and one chunk is under way at a time, each after what it answers has arrived.
 */
import { parentPort } from "node:worker_threads";
import { bodyOf, encodeRequest } from "./load_request.ts";
import { cannedReply } from "./canned_replies.ts";
import { RequestSplitter } from "./request_splitter.ts";

/** What the thread is to do next. It posts {@linkcode PeerAnswer} when that is done. */
export type PeerOrder =
  | { readonly kind: "connect"; readonly port: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "requests"; readonly model: string; readonly count: number }
  | { readonly kind: "open"; readonly model: string }
  | { readonly kind: "chunks"; readonly count: number }
  | { readonly kind: "close" };

/** An answer: the port of the vendor at first, then the failure of each order, or null. */
export type PeerAnswer = { readonly port: number } | { readonly failure: string | null };

/** The path at the gateway. */
const PATH = "/v1/chat/completions";
const BODY_BYTES = 1_000;
const READ_BYTES = 65_536;

const [WHOLE = new Uint8Array()] = cannedReply("chat", "json");
const [FIRST = new Uint8Array(), CHUNK = new Uint8Array(), ...LATER] = cannedReply("chat", "paced");
const LAST = LATER.at(-1) ?? new Uint8Array();

/** The connection of the stream that is open. */
let streamed: Deno.TcpConn | null = null;
let caller: Deno.TcpConn | null = null;
let port = 0;
let headers: Readonly<Record<string, string>> = {};
const buffer = new Uint8Array(READ_BYTES);

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  // Ends with the bytes: a write takes at least one, or fails.
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function serve(connection: Deno.TcpConn): Promise<void> {
  connection.setNoDelay(true);
  const requests = new RequestSplitter();
  const received = new Uint8Array(READ_BYTES);
  try {
    for (;;) {
      const count = await connection.read(received);
      if (count === null) return;
      for (const path of requests.take(received.subarray(0, count))) {
        const isStream = path.startsWith("/paced/");
        if (isStream) streamed = connection;
        await writeAll(connection, isStream ? FIRST : WHOLE);
      }
    }
  } catch {
    // The gateway has ended.
  } finally {
    connection.close();
  }
}

/** Reads at least so many bytes. Throws if the connection ends before. */
async function read(connection: Deno.TcpConn, bytes: number): Promise<void> {
  for (let received = 0; received < bytes;) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("the gateway closed the connection");
    received += count;
  }
}

/** Reads until a text has come, and returns all that came. Throws if the connection ends before. */
async function readUntil(connection: Deno.TcpConn, end: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(end)) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`the gateway closed the connection after: ${text.slice(0, 200)}`);
    text += decoder.decode(buffer.subarray(0, count));
  }
  return text;
}

function requestFor(model: string, mode: "json" | "paced"): Uint8Array<ArrayBuffer> {
  return encodeRequest({ port, path: PATH, headers, body: bodyOf("chat", { model, mode, bytes: BODY_BYTES }) });
}

async function obey(order: PeerOrder): Promise<void> {
  if (order.kind === "connect") {
    ({ port, headers } = order);
    caller = await Deno.connect({ hostname: "127.0.0.1", port });
    return;
  }
  if (caller === null) throw new Error("it is not connected");
  switch (order.kind) {
    case "requests": {
      const request = requestFor(order.model, "json");
      for (let number = 0; number < order.count; number++) {
        await writeAll(caller, request);
        // The end of the canned reply.
        const reply = await readUntil(caller, "}}");
        if (!reply.startsWith("HTTP/1.1 200")) throw new Error(reply.slice(0, 500));
      }
      return;
    }
    case "open":
      await writeAll(caller, requestFor(order.model, "paced"));
      await readUntil(caller, "data: ");
      return;
    case "chunks":
      for (let number = 0; number < order.count; number++) {
        if (streamed === null) throw new Error("no stream is open");
        await writeAll(streamed, CHUNK);
        await read(caller, CHUNK.length);
      }
      return;
    case "close":
      if (streamed !== null) await writeAll(streamed, LAST);
      streamed = null;
      await readUntil(caller, "[DONE]");
  }
}

const thread = parentPort;
if (thread === null) throw new Error("Cannot run garbage_peer.ts by itself: garbage.ts starts it");
const answer = (message: PeerAnswer) => thread.postMessage(message);
thread.on("message", (order: PeerOrder) => {
  obey(order).then(() => answer({ failure: null }), (error) => answer({ failure: String(error) }));
});
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
answer({ port: listener.addr.port });
for await (const connection of listener) void serve(connection);

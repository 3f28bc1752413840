import { assertEquals } from "@std/assert";
import { RequestSplitter } from "../../bench/request_splitter.ts";
import { encodeRequest } from "../../bench/load_request.ts";

const encoder = new TextEncoder();

Deno.test("RequestSplitter finds a request wherever its bytes are split", () => {
  const request = { port: 1, path: "/json/chat/completions", headers: { accept: "x" }, body: '{"a":1}' };
  const bytes = encodeRequest(request);
  for (let cut = 1; cut < bytes.length; cut++) {
    const requests = new RequestSplitter();
    assertEquals(requests.take(bytes.subarray(0, cut)), []);
    assertEquals(requests.take(bytes.subarray(cut)), ["/json/chat/completions"]);
  }
});

Deno.test("RequestSplitter ends a chunked body at its empty chunk and continues with the next request", () => {
  const requests = new RequestSplitter();
  const chunked = 'POST /burst/v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n';
  assertEquals(requests.take(encoder.encode(`${chunked}GET /paced/x HTTP/1.1\r\n\r\n`)), [
    "/burst/v1/messages",
    "/paced/x",
  ]);
});

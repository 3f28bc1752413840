import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import http2 from "node:http2";
import { itemAt } from "../support/items.ts";
import { rawAnswer, rawExchange } from "../support/raw_http.ts";
import { openTestServer, renderAs, testDoors } from "./test_server.ts";

const get = (path: string, fields = "Host: a") => `GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`;
const post = (fields: string, body = "", path = "/v1/read") =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`;
const JSON_BODY = '{"a":1}';
const CHUNKED = "Transfer-Encoding: chunked";

testDoors(
  "the server rejects framing that two parsers could read differently, and closes the connection",
  async (openServer) => {
    await using door = await openServer();
    const length = `Content-Length: ${JSON_BODY.length}`;
    const cases: Record<string, string> = {
      "length and coding": post(`${length}\r\n${CHUNKED}`, JSON_BODY),
      "coding and length": post(`${CHUNKED}\r\n${length}`, JSON_BODY),
      "two lengths": post(`${length}\r\nContent-Length: 3`, JSON_BODY),
      "a length with a sign": post("Content-Length: +7", JSON_BODY),
      "a length below zero": post("Content-Length: -1", JSON_BODY),
      "a length in hexadecimal": post("Content-Length: 0x7", JSON_BODY),
      "an empty length": post("Content-Length: ", JSON_BODY),
      "a list of lengths": post("Content-Length: 7, 7", JSON_BODY),
      "a length of 23 digits": post(`Content-Length: ${"9".repeat(23)}`, JSON_BODY),
      "an unknown coding": post("Transfer-Encoding: xchunked", `7\r\n${JSON_BODY}\r\n0\r\n\r\n`),
      "chunked before another coding": post("Transfer-Encoding: chunked, identity", `7\r\n${JSON_BODY}\r\n0\r\n\r\n`),
      "a coding in HTTP/1.0": `POST /v1/read HTTP/1.0\r\nHost: a\r\n${CHUNKED}\r\n\r\n7\r\n${JSON_BODY}\r\n0\r\n\r\n`,
      "a space before the colon": get("/v1/models", "Host: a\r\nX-A : b"),
      "a vertical tab before the value": get("/v1/models", "Host: a\r\nX-A:\vb"),
      "a folded line": get("/v1/models", "Host: a\r\nX-A: b\r\n c"),
      "a bare carriage return": get("/v1/models", "Host: a\r\nX-A: b\rc"),
      "a NUL": get("/v1/models", "Host: a\r\nX-A: b\0c"),
      "two hosts": get("/v1/models", "Host: a\r\nHost: b"),
      "129 fields": get("/v1/models", ["Host: a", ...Array.from({ length: 128 }, (_, i) => `X-${i}: 1`)].join("\r\n")),
    };
    for (const [name, request] of Object.entries(cases)) {
      const { answers, closed } = await rawExchange(door.port, request, { untilClosed: true });
      assertEquals([name, answers[0]?.status ?? 400, closed], [name, 400, true]);
    }
    const { closed } = await rawExchange(door.port, get("/v1/models", `Host: a\r\nX-A: ${"b".repeat(70_000)}`), {
      untilClosed: true,
    });
    assert(closed);
    assertEquals(door.served, []);
  },
);

testDoors("the server rejects every transfer coding but chunked before it reads the body", async (openServer) => {
  await using door = await openServer();
  for (const coding of ["gzip, chunked", "chunked, chunked", "deflate, chunked"]) {
    const answer = await rawAnswer(
      door.port,
      post(`Transfer-Encoding: ${coding}`, `7\r\n${JSON_BODY}\r\n0\r\n\r\n`),
    );
    assertEquals(answer.status, 400);
    assertEquals(answer.headers.get("connection"), "close");
  }
  const answer = await rawAnswer(
    door.port,
    post("Transfer-Encoding: Chunked", `7\r\n${JSON_BODY}\r\n0\r\n\r\n`),
  );
  assertEquals(answer.status, 200);
  assertEquals(door.served.length, 1);
});

testDoors("the server reads two equal Content-Length headers as one, and one request", async (openServer) => {
  await using door = await openServer();
  const { answers } = await rawExchange(
    door.port,
    post(`Content-Length: 7\r\nContent-Length: 7`, JSON_BODY) + get("/v1/models"),
    { answers: 2 },
  );
  assertEquals(answers.map((answer) => answer.status), [200, 200]);
  assertEquals(JSON.parse(itemAt(answers, 0).body).length, 7);
  assertEquals(door.served.length, 2);
});

testDoors("the server reads a head with bare line feeds as one request", async (openServer) => {
  await using door = await openServer();
  const { answers } = await rawExchange(door.port, "GET /v1/models HTTP/1.1\nHost: a\nX-A: b\n\n" + get("/v1/models"), {
    answers: 2,
  });
  assertEquals(answers.map((answer) => answer.status), [200, 200]);
  assertEquals(door.served.length, 2);
});

testDoors("a body with invalid chunks never reaches a handler", async (openServer) => {
  await using door = await openServer();
  for (
    const body of ["fffffffffffffffff\r\nabc\r\n0\r\n\r\n", "0x7\r\n{}\r\n0\r\n\r\n", `7\r\n${JSON_BODY}0\r\n\r\n`]
  ) {
    const { answers, closed } = await rawExchange(door.port, post(CHUNKED, body), { untilClosed: true });
    assertEquals(answers.filter((answer) => answer.status !== 400), []);
    assert(closed);
  }
  assertEquals(door.served, []);
});

testDoors("a body that stops arriving is answered 408 and reaches no handler", async (openServer) => {
  await using door = await openServer();
  const chunkEndedByLineFeed = post(CHUNKED, "7\n{}"); // the platform waits for more bytes here
  for (const request of [chunkEndedByLineFeed, post("Content-Length: 7", '{"a')]) {
    const answer = await rawAnswer(door.port, request, { onWritten: () => door.wheel.expire() });
    assertEquals(answer.status, 408);
    assertStringIncludes(answer.headers.get("connection")!, "close");
    assertEquals(JSON.parse(answer.body).code, "invalid_request");
  }
  assertEquals(door.served, []);
});

// The platform closes no connection while a read of its body is pending, and a relay reads ahead.
Deno.test("a long body that stops arriving has its connection closed after the 408", async () => {
  await using door = await openTestServer();
  for (const request of [post(CHUNKED, '3\r\n{"a\r\n'), post("Content-Length: 99999", '{"a')]) {
    const { answers, closed } = await rawExchange(door.port, request, {
      untilClosed: true,
      onWritten: () => door.wheel.expire(),
    });
    assertEquals([answers[0]?.status, closed], [408, true]);
  }
});

testDoors("trailer fields are not added to the headers", async (openServer) => {
  await using door = await openServer();
  const answer = await rawAnswer(
    door.port,
    post(CHUNKED, `7\r\n${JSON_BODY}\r\n0\r\nAuthorization: Bearer x\r\n\r\n`),
  );
  assertEquals(JSON.parse(answer.body).authorization, null);
});

testDoors("the server rejects a request whose Host is missing or could change the path", async (openServer) => {
  await using door = await openServer();
  const hosts = [
    "a/v1/models?x=",
    "a#",
    "a?x",
    "a\\b",
    "user@a",
    "%41",
    "",
    "a:99999",
    "a:",
    "a:b",
    "[::1",
    "a b",
    "a,b",
    "[g::]",
    "\u00e9",
  ];
  for (const request of [get("/nothing", "X-A: b"), ...hosts.map((host) => get("/nothing", `Host: ${host}`))]) {
    const answer = await rawAnswer(door.port, request);
    assertEquals([request, answer.status], [request, 400]);
    assertMatch(answer.headers.get("content-type")!, /json/);
  }
  for (const host of ["a", "A.example", "a_b-c.d:80", "127.0.0.1:8787", "[::1]", "[2001:DB8::1]:443", "localhost"]) {
    const answer = await rawAnswer(door.port, get("/v1/models", `Host: ${host}`));
    assertEquals([host, answer.status], [host, 200]);
  }
  assertEquals(door.served.length, 7);
});

testDoors("the server routes the absolute form by its path", async (openServer) => {
  await using door = await openServer();
  const answer = await rawAnswer(door.port, get("http://other:99999/v1/models?x=1"));
  assertEquals(answer.status, 200);
  assertEquals(door.served, ["GET /v1/models?x=1"]);
});

testDoors("unknown paths are 404, whatever they normalise to", async (openServer) => {
  await using door = await openServer();
  const paths = [
    "//evil.example/x",
    "/v1/../../etc/passwd",
    "/v1/%2e%2e/models",
    "/v1\\..\\models",
    "/v1/./models",
    "//v1/models",
    "/v1/videos/%2F",
    "/v1/videos/a%2Fb",
    "/v1/videos/%00",
    "/v1/videos/%zz",
    "/v1/videos/%c0%af",
    "/v1/videos/..",
    "/v1/videos/%2e%2e",
    "/v1/videos/",
    "/v1/videos/a%5cb",
  ];
  for (const path of paths) {
    const answer = await rawAnswer(door.port, get(path));
    assertEquals([path, answer.status, answer.headers.get("location")], [path, 404, null]);
    assertEquals(JSON.parse(answer.body).code, "not_found");
  }
  assertEquals(door.served, []);
});

testDoors(
  "methods that a path does not have are 405 with Allow, in the error format of the path",
  async (openServer) => {
    await using door = await openServer();
    const every = "GET, HEAD, POST, PUT, PATCH, DELETE";
    const cases: [string, string, string][] = [
      ["PUT /v1/videos/x", "GET, DELETE", "video"],
      ["POST /v1/videos/x", "GET, DELETE", "video"],
      ["TRACE /v1/models", "GET", "default"],
      ["PURGE /v1/videos/x", "GET, DELETE", "video"],
      ["get /v1/models", "GET", "default"],
      ["OPTIONS *", every, "default"],
      ["OPTIONS /v1/models", "GET", "default"],
      ["CONNECT a:80", every, "default"],
      ["TRACE /msgcompat/nothing", every, "message"],
    ];
    for (const [line, allow, shape] of cases) {
      const answer = await rawAnswer(door.port, `${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assertEquals([line, answer.status, answer.headers.get("allow")], [line, 405, allow]);
      assertEquals(JSON.parse(answer.body).shape, shape);
    }
  },
);

testDoors("HEAD on a GET route returns the headers of GET and no body", async (openServer) => {
  await using door = await openServer([{
    method: "GET",
    path: "/v1/file",
    handler: () =>
      new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(10)) }), {
        headers: { "content-length": "12345", "content-type": "video/mp4" },
      }),
    renderError: renderAs("default"),
  }]);
  const head = (path: string) => `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const plain = await rawAnswer(door.port, get("/v1/models"));
  const { answers } = await rawExchange(door.port, head("/v1/models") + head("/v1/file") + head("/none"), {
    answers: 3,
    headOnly: true,
  });
  assertEquals(answers.map((answer) => answer.status), [200, 200, 404]);
  assertEquals(itemAt(answers, 0).headers.get("content-length"), plain.headers.get("content-length"));
  assertEquals(answers[1]?.headers.get("content-length"), "12345");
  assertEquals(answers[1]?.headers.get("content-type"), "video/mp4");
});

testDoors("an address of more than 8 KB is 414", async (openServer) => {
  await using door = await openServer();
  for (const path of [`/v1/${"a".repeat(8200)}`, `/v1/models?${"a".repeat(40_000)}`]) {
    const answer = await rawAnswer(door.port, get(path));
    assertEquals(answer.status, 414);
    assertEquals(JSON.parse(answer.body).code, "invalid_request");
  }
});

testDoors(
  "the body of a GET is ignored and the next request on the connection is answered correctly",
  async (openServer) => {
    await using door = await openServer();
    const { answers } = await rawExchange(
      door.port,
      get("/v1/models", "Host: a\r\nContent-Length: 5") + "hello" + get("/v1/videos/x"),
      { answers: 2 },
    );
    assertEquals(answers.map((answer) => answer.status), [200, 200]);
    assertEquals(door.served, ["GET /v1/models?", "GET /v1/videos/x?"]);
  },
);

testDoors("an unread body does not affect the next request", async (openServer) => {
  await using door = await openServer();
  const unread = `POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n${JSON_BODY}`;
  const removed = `DELETE /v1/videos/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`;
  const { answers } = await rawExchange(door.port, unread + removed + get("/v1/models"), { answers: 3 });
  assertEquals(answers.map((answer) => answer.status), [404, 200, 200]);
});

testDoors("a body announced above the limit is 413 at once, also with Expect: 100-continue", async (openServer) => {
  await using door = await openServer();
  for (const fields of ["Content-Length: 100001", "Content-Length: 100001\r\nExpect: 100-continue"]) {
    const answer = await rawAnswer(door.port, post(fields));
    assertEquals(answer.status, 413);
    assertEquals(answer.headers.get("connection"), "close");
    assertEquals(JSON.parse(answer.body).code, "request_too_large");
  }
});

testDoors("a body one byte above the limit is 413 without a length as well", async (openServer) => {
  await using door = await openServer();
  const text = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
  const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const fits = await rawAnswer(door.port, post(CHUNKED, chunked(text(100_000))));
  assertEquals(JSON.parse(fits.body).length, 100_000);
  const over = await rawAnswer(door.port, post(CHUNKED, chunked(text(100_001))));
  assertEquals(over.status, 413);
});

testDoors("a body with another content coding is 415 and the error names those to use", async (openServer) => {
  await using door = await openServer();
  const answer = await rawAnswer(
    door.port,
    post("Content-Encoding: br\r\nContent-Length: 7", JSON_BODY),
  );
  assertEquals(answer.status, 415);
  assertStringIncludes(JSON.parse(answer.body).message, "gzip, zstd or identity");
  const plain = await rawAnswer(
    door.port,
    post("Content-Encoding: identity\r\nContent-Length: 7", JSON_BODY),
  );
  assertEquals(plain.status, 200);
});

testDoors("HTTP/2 by prior knowledge is served, its authority checked as a Host", async (openServer) => {
  await using door = await openServer();
  const statusOf = async (path: string, authority: string) => {
    const session = http2.connect(`http://127.0.0.1:${door.port}`);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    session.on("error", reject);
    const request = session.request({ ":path": path, ":authority": authority });
    request.on("response", (headers) => resolve(Number(headers[":status"])));
    request.on("error", reject);
    request.on("data", () => {});
    request.end();
    const status = await promise;
    await new Promise<void>((closed) => session.close(() => closed()));
    return status;
  };
  assertEquals(await statusOf("/v1/models", "gateway.example"), 200);
  assertEquals(await statusOf("/v1/models", "user@gateway.example"), 400);
  assertEquals(await statusOf("/none", "gateway.example"), 404);
});

/** A vendor's behavior during the client's first request, and the outcome that the client must have. */
export interface HostileCase {
  readonly name: string;
  /** What the vendor writes, at once or in pieces with a turn of the event loop between them. */
  readonly says: string | readonly string[];
  /** What it writes when the connection opens, before any request. */
  readonly greets?: string;
  /** What it repeats after that. */
  readonly endless?: string;
  /**
   * What it does next: serves further requests, closes the connection, or never completes the response. Default:
   * `serves`.
   */
  readonly then?: "serves" | "closes" | "hangs";
  /** What it writes over the idle connection, after the client has the response. */
  readonly later?: string;
  /**
   * What it writes after the client has written the second request over the same connection, and before it reads it.
   * HTTP/1.1 cannot tell it from the response, so the second exchange may have it. The third must not be affected.
   */
  readonly crosses?: string;
  /** Default: a POST with a body. */
  readonly method?: "GET" | "HEAD";
  /** The size of the request body. Default: 2. */
  readonly requestBytes?: number;
  /** Whether the vendor reads the whole request before it responds, or only its head. Default: `all`. */
  readonly reads?: "all" | "head";
  /** `any` if the standard permits both. The exchanges that follow must not be affected. */
  readonly outcome: { readonly status: number; readonly body: string } | "fails" | "any";
}

const hello = { status: 200, body: "hello" };
const empty = (status: number) => ({ status, body: "" });
const OK = "HTTP/1.1 200 OK\r\n";
const HELLO = `${OK}Content-Length: 5\r\n\r\nhello`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const CHUNKED_HELLO = `${CHUNKED}2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`;
const STRAY = `${OK}Content-Length: 5\r\n\r\nstray`;

type Shape = Omit<HostileCase, "name">;

/** Complete and valid responses, in different notations and pieces. */
const PROPER: Readonly<Record<string, Shape>> = {
  "a whole reply with its length": { says: HELLO, outcome: hello },
  "a chunked reply": { says: CHUNKED_HELLO, outcome: hello },
  "a reply in pieces of a byte": { says: [...HELLO], outcome: hello },
  "a chunked reply in pieces of a byte": { says: [...CHUNKED_HELLO], outcome: hello },
  "a reply that ends with the connection": { says: `${OK}\r\nhello`, then: "closes", outcome: hello },
  "HTTP/1.0 with a length": { says: HELLO.replace("1.1", "1.0"), then: "closes", outcome: hello },
  "HTTP/1.0 with a length, the connection left open": { says: HELLO.replace("1.1", "1.0"), outcome: hello },
  "a length of zero": { says: `${OK}Content-Length: 0\r\n\r\n`, outcome: empty(200) },
  "204": { says: "HTTP/1.1 204 No Content\r\n\r\n", outcome: empty(204) },
  "304 with the length of what it stands for": {
    says: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    outcome: empty(304),
  },
  "a HEAD reply with a length": { method: "HEAD", says: `${OK}Content-Length: 5\r\n\r\n`, outcome: empty(200) },
  "field names in capitals": { says: `${OK}CONTENT-LENGTH: 5\r\n\r\nhello`, outcome: hello },
  "blanks around a value": { says: `${OK}Content-Length: \t 5 \t \r\n\r\nhello`, outcome: hello },
  "no blank before a value": { says: `${OK}Content-Length:5\r\n\r\nhello`, outcome: hello },
  "a status line without a reason": { says: HELLO.replace(" OK", " "), outcome: hello },
  "bytes beyond ASCII in a value": { says: `${OK}X: \xe4\xff\r\nContent-Length: 5\r\n\r\nhello`, outcome: hello },
  "an empty value": { says: `${OK}X:\r\nContent-Length: 5\r\n\r\nhello`, outcome: hello },
  "ninety header fields": {
    says: `${OK}${"X-Field: value\r\n".repeat(90)}Content-Length: 5\r\n\r\nhello`,
    outcome: hello,
  },
  "a chunk extension": { says: `${CHUNKED}5;a=b\r\nhello\r\n0;c\r\n\r\n`, outcome: hello },
  "a trailer": { says: `${CHUNKED}5\r\nhello\r\n0\r\nX: y\r\nZ: 1\r\n\r\n`, outcome: hello },
  "a size in capitals with leading zeros": {
    says: `${CHUNKED}0000A\r\n${"x".repeat(10)}\r\n0\r\n\r\n`,
    outcome: { status: 200, body: "x".repeat(10) },
  },
  "a body that looks like a reply": {
    says: `${OK}Content-Length: ${STRAY.length}\r\n\r\n${STRAY}`,
    outcome: { status: 200, body: STRAY },
  },
  "a megabyte in one chunk": {
    says: `${CHUNKED}100000\r\n${"x".repeat(1_048_576)}\r\n0\r\n\r\n`,
    outcome: { status: 200, body: "x".repeat(1_048_576) },
  },
  "103 before the reply": { says: `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${HELLO}`, outcome: hello },
  "100 before the reply": { says: `HTTP/1.1 100 Continue\r\n\r\n${HELLO}`, outcome: hello },
  "three informational responses in pieces": {
    says: ["HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 10", "3 Early Hints\r\n\r", "\nHTTP/1.1 100 C\r\n\r\n", HELLO],
    outcome: hello,
  },
  "close among the connection options": { says: withField("Connection: keep-alive, close"), outcome: hello },
  "close in a second connection field": {
    says: withField("Connection: x-y\r\nConnection: Close"),
    outcome: hello,
  },
  "close, and the end": { says: withField("Connection: close"), then: "closes", outcome: hello },
  "no more requests by Keep-Alive": { says: withField("Keep-Alive: timeout=5, max=0"), outcome: hello },
  "a proper reply, and the end": { says: HELLO, then: "closes", outcome: hello },
};

/** Responses that two readers could interpret differently, or that are not HTTP/1.1. */
const IMPROPER: Readonly<Record<string, string>> = {
  "another protocol": "SSH-2.0-OpenSSH_9.2\r\n\r\n",
  "HTTP/2 in words": HELLO.replace("HTTP/1.1", "HTTP/2"),
  "HTTP/3.1": HELLO.replace("HTTP/1.1", "HTTP/3.1"),
  "a version in small letters": HELLO.replace("HTTP", "http"),
  "a version without its dot": HELLO.replace("HTTP/1.1", "HTTP/11"),
  "a status of two digits": HELLO.replace("200", "20"),
  "a status of four digits": HELLO.replace("200", "2000"),
  "a status of letters": HELLO.replace("200", "abc"),
  "a status below 100": HELLO.replace("200", "099"),
  "a status without a blank before it": HELLO.replace(" 200", "200"),
  "a blank before the status line": ` ${HELLO}`,
  "no status line": `Content-Length: 5\r\n\r\nhello`,
  "a NUL in the reason": HELLO.replace("OK", "O\0K"),
  "101 that nobody asked for": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello",
  "a field without a colon": withField("nothing"),
  "a field without a name": withField(": x"),
  "a blank before a colon": withField("X : y"),
  "a blank before the length's colon": `${OK}Content-Length : 5\r\n\r\nhello`,
  "a blank in a name": withField("X Y: z"),
  "a NUL in a name": withField("X\0: y"),
  "a NUL in a value": withField("X: \0"),
  "a bare carriage return in a value": withField("X: y\rZ: 1"),
  "a length hidden behind a bare carriage return": `${OK}X: y\rContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello`,
  "a control character in a value": withField("X: \x01"),
  "two lengths": `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
  "two lengths in one field": `${OK}Content-Length: 5, 6\r\n\r\nhello!`,
  "a length with a sign": `${OK}Content-Length: +5\r\n\r\nhello`,
  "a negative length": `${OK}Content-Length: -5\r\n\r\nhello`,
  "a hexadecimal length": `${OK}Content-Length: 0x5\r\n\r\nhello`,
  "a length in an exponent": `${OK}Content-Length: 5e0\r\n\r\nhello`,
  "a length of two words": `${OK}Content-Length: 5 5\r\n\r\nhello`,
  "a length beyond 2^64": `${OK}Content-Length: 99999999999999999999999\r\n\r\nhello`,
  "a length beside chunked": `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "a length behind chunked": `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "chunked twice": `${OK}Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "a size of letters": `${CHUNKED}xyz\r\nhello\r\n0\r\n\r\n`,
  "a negative size": `${CHUNKED}-5\r\nhello\r\n0\r\n\r\n`,
  "a size with a prefix": `${CHUNKED}0x5\r\nhello\r\n0\r\n\r\n`,
  "no size": `${CHUNKED}\r\nhello\r\n0\r\n\r\n`,
  "a size beyond 2^64": `${CHUNKED}1${"0".repeat(16)}5\r\nhello\r\n0\r\n\r\n`,
  "a chunk that is longer than its size": `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`,
  "a chunk without its line end": `${CHUNKED}5\r\nhello0\r\n\r\n`,
  "a bare line feed behind a size": `${CHUNKED}5\nhello\r\n0\r\n\r\n`,
  "a bare line feed behind a chunk": `${CHUNKED}5\r\nhello\n0\r\n\r\n`,
  "a carriage return alone behind a size": `${CHUNKED}5\rhello\r\n0\r\n\r\n`,
  "a NUL in a chunk extension": `${CHUNKED}5;a\0\r\nhello\r\n0\r\n\r\n`,
  "a line feed in a chunk extension": `${CHUNKED}5;a\nhello\r\n0\r\n\r\n`,
  "a NUL in a trailer": `${CHUNKED}5\r\nhello\r\n0\r\nX: \0\r\n\r\n`,
};

/** Responses that the standard permits to read or to reject. */
const DOUBTFUL: Readonly<Record<string, string>> = {
  "an empty line before the status line": `\r\n${HELLO}`,
  "a status beyond 599": HELLO.replace("200", "999"),
  "bare line feeds": HELLO.replaceAll("\r\n", "\n"),
  "chunked before another coding": `${OK}Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "a coding like chunked": `${OK}Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "a length among the trailers": `${CHUNKED}5\r\nhello\r\n0\r\nContent-Length: 99\r\n\r\n`,
  "a folded line": withField("X: a\r\n b"),
  "a folded length": `${OK}Content-Length:\r\n 5\r\n\r\nhello`,
  "a length within a folded line": `${OK}X: y\r\n Content-Length: 9\r\nContent-Length: 5\r\n\r\nhello`,
  "the same length twice": `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
  "the same length twice in one field": `${OK}Content-Length: 5, 5\r\n\r\nhello`,
  "an empty length": `${OK}Content-Length:\r\n\r\n`,
  "chunked in capitals": `${OK}Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "chunked in HTTP/1.0": CHUNKED_HELLO.replace("1.1", "1.0"),
  "another coding before chunked": `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  "the coding identity with a length": withField("Transfer-Encoding: identity"),
  "blanks behind a size": `${CHUNKED}5 \r\nhello\r\n0\r\n\r\n`,
  "two blanks before the status": HELLO.replace(" 200", "  200"),
  "a trailer without a colon": `${CHUNKED}5\r\nhello\r\n0\r\nnothing\r\n\r\n`,
};

/** Bytes that belong to no request. The previous response stays valid, and no caller receives them. */
const UNSOLICITED: Readonly<Record<string, Shape>> = {
  "a byte behind a body": { says: `${HELLO}x`, outcome: hello },
  "a reply behind a body": { says: HELLO + STRAY, outcome: hello },
  "a reply behind a body, in a piece of its own": { says: [HELLO, STRAY], outcome: hello },
  "a reply behind a chunked body": { says: CHUNKED_HELLO + STRAY, outcome: hello },
  "half a reply behind a body": { says: HELLO + STRAY.slice(0, 20), outcome: hello },
  "an empty line behind a body": { says: `${HELLO}\r\n`, outcome: hello },
  "a body behind 204": { says: "HTTP/1.1 204 No Content\r\n\r\nhello", outcome: empty(204) },
  "a reply behind 204": { says: `HTTP/1.1 204 No Content\r\n\r\n${STRAY}`, outcome: empty(204) },
  "a body behind 304": { says: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", outcome: empty(304) },
  "a body behind a HEAD reply": { method: "HEAD", says: HELLO, outcome: empty(200) },
  "a reply behind a length of zero": { says: `${OK}Content-Length: 0\r\n\r\n${STRAY}`, outcome: empty(200) },
  "a reply over the idle connection": { says: HELLO, later: STRAY, outcome: hello },
  "a reply over the idle connection, after a chunked one": { says: CHUNKED_HELLO, later: STRAY, outcome: hello },
  "two replies over the idle connection": { says: HELLO, later: STRAY + STRAY, outcome: hello },
  "408 over the idle connection": {
    says: HELLO,
    later: "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    outcome: hello,
  },
  "an empty line over the idle connection": { says: HELLO, later: "\r\n", outcome: hello },
  "100 over the idle connection": { says: HELLO, later: "HTTP/1.1 100 Continue\r\n\r\n", outcome: hello },
  "half a reply over the idle connection": { says: HELLO, later: STRAY.slice(0, 20), outcome: hello },
  "a NUL over the idle connection": { says: HELLO, later: "\0", outcome: hello },
  "a reply that crosses the next request": { says: HELLO, crosses: STRAY, outcome: hello },
  "two replies that cross the next request": { says: HELLO, crosses: STRAY + STRAY, outcome: hello },
  "half a reply that crosses the next request": { says: HELLO, crosses: STRAY.slice(0, 20), outcome: hello },
  "a reply before the first request": { greets: STRAY, says: HELLO, outcome: "any" },
  "an empty line before the first request": { greets: "\r\n", says: HELLO, outcome: "any" },
};

const BIG = 8_000_000;
const REFUSAL = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n";

/** Responses that arrive before the request was read. */
const EARLY: Readonly<Record<string, Shape>> = {
  "an early refusal": {
    requestBytes: BIG,
    reads: "head",
    says: `${REFUSAL}Connection: close\r\n\r\nno`,
    outcome: { status: 413, body: "no" },
  },
  "an early refusal that does not tell that it closes": {
    requestBytes: BIG,
    reads: "head",
    says: `${REFUSAL}\r\nno`,
    outcome: { status: 413, body: "no" },
  },
  "an early reply": { requestBytes: BIG, reads: "head", says: HELLO, outcome: hello },
};

/** Endless responses: a client must stop before it has read 48 MB. */
const ENDLESS: Readonly<Record<string, Shape>> = {
  "a reason without an end": { says: "HTTP/1.1 200 ", endless: "OK", outcome: "fails" },
  "a field name without an end": { says: OK, endless: "name", outcome: "fails" },
  "a value without an end": { says: `${OK}X: `, endless: "value", outcome: "fails" },
  "header fields without an end": { says: OK, endless: "X-Field: value\r\n", outcome: "fails" },
  "informational responses without an end": {
    says: "",
    endless: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
    outcome: "fails",
  },
  "100 without an end": { says: "", endless: "HTTP/1.1 100 Continue\r\n\r\n", outcome: "fails" },
  "empty lines without an end": { says: "", endless: "\r\n", outcome: "fails" },
  "an extension without an end": { says: `${CHUNKED}5;`, endless: "extension", outcome: "fails" },
  "zeros of a size without an end": { says: CHUNKED, endless: "0", outcome: "fails" },
  "a trailer without an end": { says: `${CHUNKED}5\r\nhello\r\n0\r\nX: `, endless: "value", outcome: "fails" },
  "trailers without an end": { says: `${CHUNKED}5\r\nhello\r\n0\r\n`, endless: "X: y\r\n", outcome: "fails" },
};

/** Responses that stall: the call ends by its deadline, and its connection is not reused. */
const STALLED: Readonly<Record<string, Shape>> = {
  "nothing at all": { says: "", then: "hangs", outcome: "fails" },
  "half a status line": { says: [...OK.slice(0, 12)], then: "hangs", outcome: "fails" },
  "half a head, byte by byte": { says: [...`${OK}Content-Le`], then: "hangs", outcome: "fails" },
  "half a body": { says: HELLO.slice(0, -2), then: "hangs", outcome: "fails" },
  "half a chunk, byte by byte": { says: [CHUNKED, ..."5\r\nhel"], then: "hangs", outcome: "fails" },
  "a chunked body without its last chunk": { says: `${CHUNKED}5\r\nhello\r\n`, then: "hangs", outcome: "fails" },
};

function withField(field: string): string {
  return `${OK}${field}\r\nContent-Length: 5\r\n\r\nhello`;
}

function named(prefix: string, shapes: Readonly<Record<string, Shape>>): HostileCase[] {
  return Object.entries(shapes).map(([name, shape]) => ({ name: `${prefix}: ${name}`, ...shape }));
}

function saying(texts: Readonly<Record<string, string>>, outcome: "fails" | "any"): Record<string, Shape> {
  return Object.fromEntries(Object.entries(texts).map(([name, says]) => [name, { says, then: "closes", outcome }]));
}

/** A response truncated after each of its bytes but the last. */
function cut(what: string, answer: string): HostileCase[] {
  return Array.from({ length: answer.length }, (_, bytes) => ({
    name: `cut: ${what} behind byte ${bytes}`,
    says: answer.slice(0, bytes),
    then: "closes",
    outcome: "fails",
  }));
}

/** All cases of the suite. */
export const HOSTILE_CASES: readonly HostileCase[] = [
  ...named("proper", PROPER),
  ...named("refused", saying(IMPROPER, "fails")),
  ...named("doubtful", saying(DOUBTFUL, "any")),
  ...named("unsolicited", UNSOLICITED),
  ...named("early", EARLY),
  ...named("endless", ENDLESS),
  ...named("stalled", STALLED),
  ...cut("a reply with its length", HELLO),
  ...cut("a chunked reply", CHUNKED_HELLO),
];

import { assertEquals, assertThrows } from "@std/assert";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import { addressOf, type Endpoint, pathsOf } from "../../src/platform/endpoints/endpoint.ts";
import { ENDPOINT_NAMES } from "../../src/platform/endpoints/limit_name.ts";
import { CONFIG_ENDPOINTS, OPERATOR_ENDPOINTS, REQUEST_ENDPOINTS } from "../../src/platform/endpoints/operators.ts";
import { protocolAt, PROTOCOLS } from "../../src/platform/endpoints/protocols.ts";
import { CONSOLE_ENDPOINTS, DOCUMENTATION_ENDPOINTS, SERVICE_ENDPOINTS } from "../../src/platform/endpoints/service.ts";

const CALLERS = Object.entries<Endpoint>(CALLER_ENDPOINTS);
const TABLES: readonly Readonly<Record<string, Endpoint>>[] = [
  CALLER_ENDPOINTS,
  OPERATOR_ENDPOINTS,
  REQUEST_ENDPOINTS,
  CONFIG_ENDPOINTS,
  SERVICE_ENDPOINTS,
  DOCUMENTATION_ENDPOINTS,
  CONSOLE_ENDPOINTS,
];

Deno.test("endpoints: no method of a path is in the tables twice", () => {
  const all = TABLES.flatMap((table) =>
    Object.values(table).flatMap((row) => pathsOf(row).map((path) => `${row.method} ${path}`))
  );
  assertEquals(all.toSorted(), [...new Set(all)].sort());
});

Deno.test("endpoints: every name in the limits of a key opens an endpoint, and only tables of callers name one", () => {
  const named = (rows: readonly Endpoint[]) =>
    new Set(rows.flatMap(({ permission = "open" }) => permission === "open" ? [] : [permission]));
  assertEquals(named(CALLERS.map(([, row]) => row)), new Set(ENDPOINT_NAMES));
  for (const table of TABLES.slice(1)) assertEquals(named(Object.values(table)), new Set());
});

Deno.test("endpoints: what a key needs permission for is in a protocol, and what can be repeated or resumed is paid", () => {
  for (const [name, row] of CALLERS) {
    const { path, permission, isPaid, isRepeatable, isResumable, isRead, method } = row;
    if (permission !== undefined) assertEquals(protocolAt(path) !== undefined, true, name);
    if (isRepeatable || isResumable) assertEquals([method, isPaid], ["POST", true], name);
    if (isRead) assertEquals([method, permission !== undefined], ["GET", true], name);
  }
});

Deno.test("endpoints: errors have the style of the protocol, or that of videos", () => {
  for (const [name, { path, errors = "default" }] of CALLERS) {
    const style = protocolAt(path)?.name ?? "default";
    assertEquals(errors === style || errors === "video", true, name);
  }
});

Deno.test("protocolAt() knows the protocol by the first segment of a path", () => {
  for (const protocol of Object.values(PROTOCOLS)) {
    assertEquals(protocolAt(protocol.root), protocol);
    assertEquals(protocolAt(`${protocol.root}/anything`), protocol);
    assertEquals(protocolAt(`${protocol.root}2/anything`), undefined);
  }
  for (const path of ["", "/", "/healthz", "v1"]) assertEquals(protocolAt(path), undefined, path);
});

Deno.test("addressOf() encodes the parameters of a path, and misses none", () => {
  assertEquals(addressOf(CALLER_ENDPOINTS.listVideos), "/v1/videos");
  assertEquals(addressOf(CALLER_ENDPOINTS.readVideoContent, { id: "a/b c" }), "/v1/videos/a%2Fb%20c/content");
  assertEquals(
    addressOf(CALLER_ENDPOINTS.generateContent, { model: "openai/gpt" }),
    "/gencompat/v1beta/models/openai%2Fgpt:generateContent",
  );
  assertThrows(() => addressOf(CALLER_ENDPOINTS.readVideo), Error, 'needs the parameter "id"');
});

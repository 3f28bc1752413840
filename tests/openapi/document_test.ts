import { assert, assertEquals } from "@std/assert";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { join } from "node:path";
import { DESCRIPTION_FILE, formattedDocument, openapiDocument } from "../../scripts/openapi/document.ts";
import { readDescription } from "../../src/protocols/documentation/api_description.ts";
import { DescribedApi } from "../support/described_api.ts";
import { routesOf } from "../support/described_routes.ts";
import { gatewayRoutes } from "./gateway_routes.ts";

const FILE = join(import.meta.dirname ?? ".", "../..", DESCRIPTION_FILE);

Deno.test(`${DESCRIPTION_FILE} is what "deno task openapi" writes`, async () => {
  const current = await Deno.readTextFile(FILE) === await formattedDocument();
  assert(current, 'The description is not current: run "deno task openapi"');
});

Deno.test("the description passes the strict rules of a linter", async () => {
  const source = JSON.stringify(await openapiDocument());
  const config = await createConfig({
    extends: ["recommended-strict"],
    // Events of streams refer to schemas from an extension, which the linter does not read; the next test does.
    rules: { "no-unused-components": "off" },
  });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  const texts = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
  assertEquals(texts, []);
});

Deno.test("the description refers to every component, and to none that is missing", async () => {
  const text = JSON.stringify(await readDescription());
  const { components } = await readDescription();
  const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name));
  const kinds = ["schemas", "parameters", "headers", "responses"] as const;
  const present = kinds.flatMap((kind) => Object.keys(components[kind]).map((name) => `${kind}/${name}`));
  assertEquals([...referred].sort(), present.sort());
});

/** Addresses that are for the gateway's own pages, or that only refuse. */
const NOT_DESCRIBED = [/^\w+ \/console(\/|$)/, /^GET \/v1\/responses$/];

Deno.test("every endpoint is described, and every described endpoint exists", async () => {
  const routes = await gatewayRoutes();
  const served = routes.map(({ method, path }) => `${method} ${path}`)
    .filter((each) => !NOT_DESCRIBED.some((pattern) => pattern.test(each)));
  const described = routesOf(await readDescription()).map(({ method, path }) => `${method} ${path}`)
    .filter((each) => each !== "GET /"); // The request handler answers it without a route.
  assertEquals(described.toSorted(), [...new Set(served)].sort());
});

Deno.test("operations have unique names, known tags, and a described credential", async () => {
  const { paths, tags, components, "x-tagGroups": groups } = await readDescription();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const names = operations.map(({ operationId }) => operationId);
  assertEquals(names.length, new Set(names).size);
  const known = tags.map(({ name }) => name);
  assertEquals([...new Set(operations.flatMap((each) => each.tags))].sort(), known.toSorted());
  assertEquals(groups.flatMap((group) => group.tags), known);
  const schemes = new Set(operations.flatMap(({ security }) => security.flatMap((each) => Object.keys(each))));
  assertEquals([...schemes].sort(), Object.keys(components.securitySchemes).sort());
});

Deno.test("every example of a request fits its schema", async () => {
  const api = await DescribedApi.read();
  let checked = 0;
  for (const { pointer } of routesOf(api.description)) {
    const [path = "", method = ""] = pointer.split("/").slice(2).map((part) => part.replaceAll("~1", "/"));
    const { examples = {} } = api.description.paths[path]?.[method]?.requestBody?.content["application/json"] ?? {};
    for (const { value } of Object.values(examples)) {
      checked++;
      const problems = api.problemsOf(value, `${pointer}/requestBody/content/application~1json/schema`);
      assertEquals(problems, [], `${method} ${path}`);
    }
  }
  assert(checked > 30, `${checked} examples`);
});

import { DOCUMENTATION_ENDPOINTS, DOCUMENTATION_ROOT } from "../../../platform/endpoints/service.ts";
import type { ApiDescription, ApiOperation, ApiPath } from "../api_description.ts";
import { referredName } from "../api_description.ts";
import { code, escapeHtml, framed, sentence } from "../html.ts";
import type { PlacedOperation } from "./curl.ts";
import { renderOperation } from "./operation.ts";
import { renderSchema } from "./schema.ts";

/** Where the reference is. Below it each tag has a page. */
export const REFERENCE_PATH = "api-reference";

/** What links to it say. */
export const REFERENCE_TITLE = "All endpoints";

/**
 * A page of the API reference: the index, or the operations of a tag with all schemas that they refer to.
 *
 * @param name The name of a tag in lower case with hyphens, such as `chat-completions`; empty for the index.
 * @param navigation Links to the pages of the documentation, as HTML.
 * @returns Null if there is no such tag.
 */
export function renderReference(name: string, description: ApiDescription, navigation: string): string | null {
  if (name === "") return framed(REFERENCE_TITLE, navigation, renderIndex(description));
  const tag = description.tags.find((each) => slugOf(each.name) === name);
  if (tag === undefined) return null;
  const operations = operationsOf(description).filter(({ operation }) => operation.tags.includes(tag.name));
  const main = [
    `<h1>${escapeHtml(tag.name)}</h1><p>${sentence(tag.description)}</p>`,
    ...operations.map((each) => renderOperation(each, description)),
    renderSchemas(operations, description),
  ];
  return framed(`API: ${tag.name}`, navigation, main.join("\n"));
}

/** The name of a tag in an address. */
function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(" ", "-");
}

function renderIndex(description: ApiDescription): string {
  const all = operationsOf(description);
  const groups = description["x-tagGroups"].map((group) => {
    const tags = group.tags.map((name) => {
      const items = all.filter(({ operation }) => operation.tags.includes(name)).map(({ method, path, operation }) =>
        `<li><a href="${DOCUMENTATION_ROOT}/${REFERENCE_PATH}/${slugOf(name)}#${operation.operationId}">${
          escapeHtml(operation.summary)
        }</a> ${code(`${method} ${path}`)}</li>`
      );
      return `<h3><a href="${DOCUMENTATION_ROOT}/${REFERENCE_PATH}/${slugOf(name)}">${escapeHtml(name)}</a></h3><ul>${
        items.join("")
      }</ul>`;
    });
    return `<h2>${escapeHtml(group.name)}</h2>${tags.join("")}`;
  });
  return `<h1>${REFERENCE_TITLE}</h1><p>${sentence(description.info.description)}</p>
<p>The same as an <a href="${DOCUMENTATION_ENDPOINTS.readDescription.path}">OpenAPI document</a>, version 3.1, for tools that read it. The rules behind the
endpoints are in <a href="${DOCUMENTATION_ROOT}/api/README">the API guide</a>. <strong>*</strong> marks what is required.</p>${
    groups.join("")
  }`;
}

function operationsOf({ paths, webhooks, components }: ApiDescription): PlacedOperation[] {
  const placed = (methods: ApiPath, path: string) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      parameters: (operation.parameters ?? []).map((each) =>
        each.$ref === undefined ? each : components.parameters[referredName(each.$ref)] ?? each
      ),
    }));
  return [
    ...Object.entries(paths).flatMap(([path, methods]) => placed(methods, path)),
    ...Object.entries(webhooks).flatMap(([event, methods]) => placed(methods, event)),
  ];
}

/** All schemas that the operations refer to, directly and through others, sorted by name. */
function renderSchemas(operations: readonly PlacedOperation[], { components }: ApiDescription): string {
  const names = new Set(operations.flatMap(({ operation }) => referredIn(operation, components)));
  for (const name of names) for (const next of schemaNamesIn(components.schemas[name])) names.add(next);
  const sections = [...names].sort().map((name) =>
    `<section><h3 id="schema-${escapeHtml(name)}"><a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a></h3>${
      renderSchema(components.schemas[name] ?? {})
    }</section>`
  );
  return `<h2 id="schemas"><a href="#schemas">Schemas</a></h2>${sections.join("\n")}`;
}

function referredIn(operation: ApiOperation, { responses }: ApiDescription["components"]): string[] {
  const errors = Object.values(operation.responses).flatMap(({ $ref }) =>
    $ref === undefined ? [] : schemaNamesIn(responses[referredName($ref)])
  );
  return [...schemaNamesIn(operation), ...errors];
}

function schemaNamesIn(value: unknown): string[] {
  const text = JSON.stringify(value ?? {});
  return [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = ""]) => name);
}

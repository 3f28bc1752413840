import {
  type ApiContent,
  type ApiDescription,
  type ApiOperation,
  type ApiParameter,
  type ApiResponse,
  referredName,
} from "../api_description.ts";
import { code, escapeHtml, sentence } from "../html.ts";
import { curlOf, type PlacedOperation } from "./curl.ts";
import { meaningOf, renderSchema, typeOf } from "./schema.ts";

/** An operation as a section of a page. */
export function renderOperation(placed: PlacedOperation, description: ApiDescription): string {
  const { method, path, operation, parameters } = placed;
  const { operationId: id, summary, description: text } = operation;
  return [
    `<section><h2 id="${id}"><a href="#${id}">${escapeHtml(summary)}</a></h2>`,
    `<p class="address"><strong>${method}</strong> ${code(path)}</p>`,
    text === undefined ? "" : `<p>${sentence(text)}</p>`,
    `<p>${credentials(placed)}</p>`,
    renderParameters(parameters),
    renderBody(placed, description),
    renderExamples(placed, description),
    renderReplies(placed, description),
    "</section>",
  ].join("\n");
}

function credentials({ operation: { security } }: PlacedOperation): string {
  const names = security.flatMap((each) => Object.keys(each));
  if (names.length === 0) return "Public: it needs no key.";
  const key = names.includes("adminKey") ? "an admin key" : "an API key";
  return security.some((each) => Object.keys(each).length === 0) ? `Public; ${key} is possible.` : `Needs ${key}.`;
}

function renderParameters(parameters: readonly ApiParameter[]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, in: place, required, schema, description = "" }) =>
    `<tr><td>${code(name)}${required ? " <strong>*</strong>" : ""}</td><td>${place}</td><td>${typeOf(schema)}</td><td>${
      sentence(description)
    } ${meaningOf(schema)}</td></tr>`
  );
  return `<h3>Parameters</h3><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${
    rows.join("")
  }</tbody></table>`;
}

/** With the fields of a component, as they are what the reader looks for. */
function renderBody({ operation: { requestBody } }: PlacedOperation, { components }: ApiDescription): string {
  if (requestBody === undefined) return "";
  const kinds = Object.entries(requestBody.content).map(([mediaType, content]) => {
    const { schema: { $ref } = {} } = content;
    const schema = $ref === undefined ? content.schema : components.schemas[referredName($ref)];
    return renderContent(mediaType, { ...content, ...schema && { schema } });
  });
  return `<h3>Request body${requestBody.required ? "" : " (optional)"}</h3>${kinds.join("")}`;
}

function renderContent(mediaType: string, { schema, "x-events": events }: ApiContent): string {
  const isEmpty = schema === undefined || Object.keys(schema).length === 0;
  const shape = isEmpty || (events !== undefined && schema.description === undefined) ? "" : renderSchema(schema);
  return `<p>${code(mediaType)}</p>${shape}${events === undefined ? "" : renderEvents(events)}`;
}

function renderEvents(events: NonNullable<ApiContent["x-events"]>): string {
  const rows = events.map(({ event, description, data }) =>
    `<tr><td>${event === undefined ? "" : code(event)}</td><td>${data === undefined ? "" : typeOf(data)}</td><td>${
      sentence(description)
    }</td></tr>`
  );
  return `<table><thead><tr><th>Event</th><th>Data</th><th>Meaning</th></tr></thead><tbody>${
    rows.join("")
  }</tbody></table>`;
}

/** A webhook is not called by the reader. */
function renderExamples(placed: PlacedOperation, description: ApiDescription): string {
  if (!placed.path.startsWith("/")) return "";
  const examples = Object.values(placed.operation.requestBody?.content["application/json"]?.examples ?? {});
  const commands = examples.length === 0
    ? [{ summary: "", value: undefined }]
    : examples.map(({ summary, value }) => ({ summary, value }));
  const written = commands.map(({ summary, value }) =>
    `${summary === "" ? "" : `<p>${escapeHtml(summary)}:</p>`}<pre><code>${
      escapeHtml(curlOf(placed, description, value))
    }</code></pre>`
  );
  return `<h3>Example</h3>${written.join("")}`;
}

function renderReplies({ operation: { responses } }: PlacedOperation, { components }: ApiDescription): string {
  const entries = Object.entries(responses);
  const replies = entries.filter(([, { $ref }]) => $ref === undefined).map(([status, reply]) => {
    const kinds = Object.entries(reply.content ?? {}).map(([mediaType, content]) => renderContent(mediaType, content));
    return `<h4>${status}: ${sentence(reply.description)}</h4>${kinds.join("")}${renderHeaders(reply, components)}`;
  });
  return `<h3>Responses</h3>${replies.join("")}${renderErrors(responses)}`;
}

function renderHeaders({ headers = {} }: ApiResponse, components: ApiDescription["components"]): string {
  const items = Object.keys(headers).map((name) =>
    `<li>${code(name)}: ${sentence(components.headers[name]?.description ?? "")}</li>`
  );
  return items.length === 0 ? "" : `<details><summary>Header fields</summary><ul>${items.join("")}</ul></details>`;
}

/** All errors of an operation have one body. */
function renderErrors(responses: ApiOperation["responses"]): string {
  const errors = Object.entries(responses).filter(([, { $ref }]) => $ref !== undefined);
  const name = referredName(errors[0]?.[1].$ref ?? "");
  if (name === "") return "";
  const rows = errors.map(([status, { description }]) =>
    `<tr><td>${status}</td><td>${sentence(description)}</td></tr>`
  );
  return `<h4>Errors: <a href="#schema-${name}">${name}</a></h4><table><tbody>${rows.join("")}</tbody></table>`;
}

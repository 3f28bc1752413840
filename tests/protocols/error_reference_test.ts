import { assertEquals } from "@std/assert";
import { type ErrorCode, GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { renderContentError } from "../../src/protocols/content/error.ts";
import { renderDefaultError } from "../../src/protocols/default/error.ts";
import { renderMessageError } from "../../src/protocols/message/error.ts";

const PAGE = new URL("../../docs/api/errors.md", import.meta.url);
const SOURCE = new URL("../../src/platform/lib/basics/gateway_error.ts", import.meta.url);

/** A code with its status and its name in the default, the message and the content protocol. */
type Row = readonly [code: string, status: number, defaultType: string, messageType: string, contentStatus: string];

Deno.test("docs/api/errors.md lists every code with the status and the types of each protocol", async () => {
  const listed = rowsOf(await Deno.readTextFile(PAGE));
  assertEquals(listed.map(([code]) => code).toSorted(), codesIn(await Deno.readTextFile(SOURCE)).toSorted());
  for (const row of listed) assertEquals(await answeredRow(row[0] as ErrorCode), row);
});

function rowsOf(page: string): Row[] {
  const table = page.slice(page.indexOf("\n## Codes\n"), page.indexOf("\n## Video codes\n"));
  const rows = table.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| ([^|]+)\| ([^|]+)\| `(\w+)`/gm);
  return [...rows].map(([, code = "", status, defaultType = "", messageType = "", contentStatus = ""]) => {
    const nameOf = (cell: string) => cell.trim() === "same as code" ? code : cell.trim().replaceAll("`", "");
    return [code, Number(status), nameOf(defaultType), nameOf(messageType), contentStatus];
  });
}

/** The members of the table of statuses, which the compiler checks against the type of all codes. */
function codesIn(source: string): string[] {
  return [...source.matchAll(/^ {2}(\w+): \d{3},$/gm)].map(([, code = ""]) => code);
}

async function answeredRow(code: ErrorCode): Promise<Row> {
  const error = new GatewayError(code, "message");
  const render = [renderDefaultError, renderMessageError, renderContentError];
  const answers = render.map((each) => each(error, "req_1"));
  const [inDefault, inMessage, inContent] = await Promise.all(answers.map((each) => each.json()));
  const [status = 0, ...others] = answers.map((each) => each.status);
  assertEquals(others, [status, status]);
  return [code, status, inDefault.error.type, inMessage.error.type, inContent.error.status];
}

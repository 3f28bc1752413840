/**
 * Writes the tables of what the newest official clients send and receive: `deno task parameters`. Needs npm and a
 * package registry. The loss test then fails for each new parameter that is neither sent nor reported.
 */
import { CLIENT_FORMATS, newestTables } from "./client_tables.ts";
import { replyTableOf, tableOf } from "./parameters.ts";
import { writeUnknownMembers } from "./unknown_members.ts";

const tables = await newestTables();
for (const format of CLIENT_FORMATS) {
  const { requests, replies } = tables[format];
  await Deno.writeTextFile(tableOf(format), `${JSON.stringify(requests, null, 2)}\n`);
  await Deno.writeTextFile(replyTableOf(format), `${JSON.stringify(replies)}\n`);
}
await writeUnknownMembers(tables);

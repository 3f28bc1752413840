/**
 * Lists what the newest official clients send and receive and no source file knows: `deno task facts:check`. Needs npm
 * and a package registry. Ends with 1 if something is not in the tables of the repository, which
 * `deno task parameters` writes.
 */
import { CLIENT_FORMATS, newestTables } from "./client_tables.ts";
import { parametersOf } from "./parameters.ts";
import { committedUnknowns, unknownMembers } from "./unknown_members.ts";

const tables = await newestTables();
const [found, committed] = [await unknownMembers(tables), await committedUnknowns()];
let isNew = false;
for (const format of CLIENT_FORMATS) {
  const { package: name, version } = tables[format].requests;
  const { version: known } = await parametersOf(format);
  const before = new Set(committed[format]);
  const added = (found[format] ?? []).filter((place) => !before.has(place));
  isNew ||= added.length > 0 || version !== known;
  console.log(
    `${format}: ${name} ${version}, in the table ${known}; ${found[format]?.length ?? 0} unknown, ${added.length} new`,
  );
  for (const place of added) console.log(`  ${place}`);
}
if (isNew) console.log("Add what callers need, then write the tables: deno task parameters");
Deno.exit(isNew ? 1 : 0);

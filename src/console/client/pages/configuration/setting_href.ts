import { hrefOf } from "../../navigation.ts";

/** The address of the page of a setting, such as `aliases` and `fast`. */
export function settingHref(section: string, name: string): string {
  return hrefOf(`configuration/${[section, ...name.split("/")].map(encodeURIComponent).join("/")}`);
}

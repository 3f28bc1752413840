import { Badge, type Tone } from "../../components/badge.tsx";
import type { ConfigSetting } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Who owns a setting, by the first word of the API's text. */
export type SettingOwner = keyof typeof TEXTS.configuration.owners;

/** Who owns a setting. */
export function ownerOf({ owner }: Pick<ConfigSetting, "owner">): SettingOwner {
  const [first = ""] = owner.split(" ");
  return Object.hasOwn(TEXTS.configuration.owners, first) ? first as SettingOwner : "default";
}

const TONES: Readonly<Record<SettingOwner, Tone>> = {
  file: "plain",
  command: "plain",
  environment: "plain",
  store: "good",
  built: "plain",
  default: "plain",
};

/** The owner of a setting, with its place in the file. */
export function OwnerBadge({ setting }: { readonly setting: ConfigSetting }) {
  const owner = ownerOf(setting);
  return (
    <>
      <Badge tone={TONES[owner]}>{TEXTS.configuration.owners[owner]}</Badge>{" "}
      {setting.path !== undefined && <code class="hint">{setting.path}</code>}
    </>
  );
}

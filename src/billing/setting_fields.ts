import {
  ACCESS_LIMIT_FIELDS,
  CAPTURE_FIELD,
  INSTANT_FIELD,
  METADATA_FIELD,
  NAME_FIELD,
  OVERDRAFT_FIELD,
  PROMPT_CACHING_FIELD,
} from "../limits/access_settings.ts";
import { receiverAddress } from "../lib/settings.ts";

/** The schemas of the settings of a key, by the names that operators use. Null removes a setting. */
export const KEY_FIELDS = {
  name: NAME_FIELD.nullish(),
  expires_at: INSTANT_FIELD.nullish(),
  metadata: METADATA_FIELD.nullish(),
  capture: CAPTURE_FIELD.nullish(),
  prompt_caching: PROMPT_CACHING_FIELD.nullish(),
  ...ACCESS_LIMIT_FIELDS,
};

/** The schemas of the settings of an account, by the names that operators use. Null removes a setting. */
export const ACCOUNT_FIELDS = {
  ...KEY_FIELDS,
  overdraft: OVERDRAFT_FIELD.nullish(),
  notification_url: receiverAddress().nullish(),
};

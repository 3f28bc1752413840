import * as z from "zod";
import { httpAddress, optional, secret } from "../lib/settings.ts";

/** An application in Microsoft Entra ID whose tokens authorize requests. */
export interface EntraIdConfig {
  readonly clientId: string;
  /** Never logged. */
  readonly clientSecret: string;
  /** What the token is for. */
  readonly scope: string;
  /** The address that issues tokens. Default: that of the tenant at Microsoft. */
  readonly tokenUrl: string;
}

const DEFAULT_SCOPE = "https://cognitiveservices.azure.com/.default";
const ID_EXPECTATION = "an id of 1 to 100 letters, digits, dots and hyphens";
const SCOPE_EXPECTATION = "a scope of 1 to 300 visible ASCII characters";

const id = z.string(ID_EXPECTATION).regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/, ID_EXPECTATION);

/**
 * The fields of `entra_id`. Source: Microsoft identity platform, "OAuth 2.0 client credentials flow"; Azure OpenAI
 * documentation, "Microsoft Entra ID authentication".
 */
export const entraIdSchema: z.ZodType<EntraIdConfig> = z.strictObject({
  tenant: id,
  client_id: id,
  client_secret: secret(1),
  scope: z.string(SCOPE_EXPECTATION).regex(/^[\x21-\x7e]{1,300}$/, SCOPE_EXPECTATION).default(DEFAULT_SCOPE),
  token_url: optional(httpAddress()),
}).transform(({ tenant, client_id, client_secret, scope, token_url }) => ({
  clientId: client_id,
  clientSecret: client_secret,
  scope,
  tokenUrl: token_url ?? `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
}));

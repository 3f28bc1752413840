/** HTTP status codes by name (RFC 9110, 15). */
export declare const STATUS_CODE: {
  readonly OK: 200;
  readonly Accepted: 202;
  readonly NoContent: 204;
  readonly Found: 302;
  readonly NotModified: 304;
  readonly BadRequest: 400;
  readonly Unauthorized: 401;
  readonly PaymentRequired: 402;
  readonly Forbidden: 403;
  readonly NotFound: 404;
  readonly MethodNotAllowed: 405;
  readonly RequestTimeout: 408;
  readonly Conflict: 409;
  readonly ContentTooLarge: 413;
  readonly URITooLong: 414;
  readonly UnsupportedMediaType: 415;
  readonly UnprocessableEntity: 422;
  readonly UpgradeRequired: 426;
  readonly TooManyRequests: 429;
  readonly InternalServerError: 500;
  readonly BadGateway: 502;
  readonly ServiceUnavailable: 503;
  readonly GatewayTimeout: 504;
};

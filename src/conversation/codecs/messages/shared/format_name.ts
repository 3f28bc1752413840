/** The name of the message format. In a file of its own, so that endpoints are compared without the codec. */
export const MESSAGE_FORMAT = "messages";

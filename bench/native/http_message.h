/*
 * Reads one HTTP/1.1 message after another from a connection's bytes, and finds where each ends: RFC 9112, 6.
 * The benchmark's programs speak only with each other and with the measured servers, so a malformed message ends the
 * connection, without a report of what was wrong with it.
 */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_HEAD_BYTES = 16 * 1024 };

enum phase { IN_HEAD, IN_BODY, IN_CHUNK_SIZE, IN_CHUNK, AFTER_CHUNK, IN_TRAILER, COMPLETE, MALFORMED };

struct message {
  enum phase phase;
  /* Start line and fields, with a zero byte at the end once the head is complete. */
  char head[MAX_HEAD_BYTES];
  size_t head_bytes;
  /* Bytes that are still expected of the body, or of its current chunk. */
  uint64_t left;
  /* Characters of the current line, in a chunk's size line or in the trailer. */
  size_t line_bytes;
  /* Bytes of content so far, without the framing. */
  uint64_t content_bytes;
};

static inline void message_reset(struct message *message) {
  message->phase = IN_HEAD;
  message->head_bytes = 0;
  message->left = 0;
  message->line_bytes = 0;
  message->content_bytes = 0;
}

/* The value of a field in a complete head; NULL if it is missing. */
static inline const char *message_field(const struct message *message, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strstr(message->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
    line += 2;
    if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
    return line + length + 1 + strspn(line + length + 1, " \t");
  }
  return NULL;
}

static inline void message_end_head(struct message *message) {
  message->head[message->head_bytes] = '\0';
  const char *encoding = message_field(message, "transfer-encoding");
  const char *length = message_field(message, "content-length");
  if (encoding != NULL && strncasecmp(encoding, "chunked", 7) == 0) {
    message->phase = IN_CHUNK_SIZE;
  } else {
    message->left = length == NULL ? 0 : strtoull(length, NULL, 10);
    message->phase = message->left == 0 ? COMPLETE : IN_BODY;
  }
}

/* Adds a character to the head. The head is complete at the first empty line. */
static inline void message_take_head(struct message *message, char character) {
  if (message->head_bytes == MAX_HEAD_BYTES - 1) {
    message->phase = MALFORMED;
    return;
  }
  message->head[message->head_bytes++] = character;
  if (character != '\n' || message->head_bytes < 4) return;
  if (memcmp(message->head + message->head_bytes - 4, "\r\n\r\n", 4) == 0) message_end_head(message);
}

/* Adds a character to the line with a chunk's size: hexadecimal digits, and extensions that are ignored. */
static inline void message_take_size(struct message *message, char character) {
  if (character == '\n') {
    message->phase = message->left == 0 ? IN_TRAILER : IN_CHUNK;
    message->line_bytes = 0;
    return;
  }
  static const char digits[] = "0123456789abcdef";
  const char *digit = character == '\0' ? NULL : strchr(digits, character | 0x20);
  /* The first other character, a carriage return or a semicolon, ends the digits. */
  if (digit == NULL || message->line_bytes == SIZE_MAX) message->line_bytes = SIZE_MAX;
  else message->left = message->left * 16 + (uint64_t)(digit - digits);
}

/* Takes bytes up to the end of the message, and returns their number. */
static inline size_t message_take(struct message *message, const char *bytes, size_t count) {
  size_t taken = 0;
  while (taken < count && message->phase < COMPLETE) {
    if (message->phase == IN_BODY || message->phase == IN_CHUNK) {
      size_t part = count - taken < message->left ? count - taken : (size_t)message->left;
      taken += part;
      message->content_bytes += part;
      message->left -= part;
      if (message->left == 0) message->phase = message->phase == IN_BODY ? COMPLETE : AFTER_CHUNK;
      continue;
    }
    char character = bytes[taken++];
    switch (message->phase) {
      case IN_HEAD:
        message_take_head(message, character);
        break;
      case IN_CHUNK_SIZE:
        message_take_size(message, character);
        break;
      case AFTER_CHUNK:
        if (character == '\n') message->phase = IN_CHUNK_SIZE;
        break;
      case IN_TRAILER:
        if (character == '\n' && message->line_bytes == 0) message->phase = COMPLETE;
        else if (character == '\n') message->line_bytes = 0;
        else if (character != '\r') message->line_bytes++;
        break;
      default:
        break;
    }
  }
  return taken;
}

#endif

/*
 * The time at which a chunk of a paced stream was sent, within its text: `t=` and 16 digits, microseconds of the
 * monotonic clock, which all programs of a machine share. Zero if nobody has written it.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stdint.h>
#include <string.h>

enum { STAMP_DIGITS = 16 };

/* The first digit of the first stamp in bytes; NULL if there is no whole one. */
static inline char *stamp_in(char *bytes, size_t length) {
  for (size_t at = 0; at + 2 + STAMP_DIGITS <= length; at++) {
    if (bytes[at] != 't' || bytes[at + 1] != '=') continue;
    size_t digits = 0;
    while (digits < STAMP_DIGITS && bytes[at + 2 + digits] >= '0' && bytes[at + 2 + digits] <= '9') digits++;
    if (digits == STAMP_DIGITS) return bytes + at + 2;
  }
  return NULL;
}

static inline void write_stamp(char *stamp, int64_t us) {
  for (int digit = STAMP_DIGITS - 1; digit >= 0; digit--, us /= 10) stamp[digit] = (char)('0' + us % 10);
}

static inline int64_t read_stamp(const char *stamp) {
  int64_t us = 0;
  for (int digit = 0; digit < STAMP_DIGITS; digit++) us = us * 10 + (stamp[digit] - '0');
  return us;
}

#endif

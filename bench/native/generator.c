/*
 * The benchmark's load generator: one thread, epoll, the same request again and again.
 *
 *     generator closed  PORT REQUEST CONNECTIONS SECONDS
 *     generator streams PORT REQUEST CONNECTIONS SECONDS STREAM_MS
 *     generator rate    PORT REQUEST CONNECTIONS SECONDS PER_SECOND
 *
 * REQUEST is a file with the bytes of the request.
 *
 * `closed`: each connection sends its next request after its complete reply.
 * `streams`: the same, but the connections start evenly over STREAM_MS, the length of a stream, so that streams do not
 * start and end together. Gaps count from one second after the last start, and so do one-way times, from the stamps of
 * the upstream in C.
 * `rate`: requests are due at a constant rate, whether earlier replies have come or not. One that finds all
 * connections busy is sent late, and its time counts from when it was due.
 *
 * No request starts after SECONDS; open ones are finished for up to ten seconds more. It prints one JSON object, the
 * `LoadResult` of `load.ts`.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_message.h"
#include "stamp.h"

enum { MAX_EVENTS = 256, READ_BYTES = 256 * 1024, MAX_FAILURES = 1000 };

static const int64_t MS = 1000000;
static const int64_t GRACE_MS = 10000;
/* From the start of the last stream to the first gap that counts. */
static const int64_t WARM_UP_MS = 1000;
static const int64_t LATE_GAP_MS = 40;

struct connection {
  int socket;
  bool is_busy;
  struct message reply;
  size_t written;
  bool waits_for_room;
  /* When the request began, and when content came last; nanoseconds. */
  int64_t asked_at;
  int64_t content_at;
};

/* Times in nanoseconds, in no order until they are sorted. */
struct sample {
  int64_t *values;
  size_t count, room;
};

static char *request;
static size_t request_bytes;
static int port;
static int poll_fd;
static struct connection *connections;
static int connection_count;
static int busy_count;
static int64_t gaps_from;
static struct sample wholes, gaps, one_ways;
static long failures, late_gaps;
static char input[READ_BYTES];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void add(struct sample *sample, int64_t value) {
  if (sample->count == sample->room) {
    sample->room = sample->room == 0 ? 1 << 16 : sample->room * 2;
    sample->values = realloc(sample->values, sample->room * sizeof *sample->values);
    if (sample->values == NULL) fail("memory");
  }
  sample->values[sample->count++] = value;
}

static int ascending(const void *one, const void *other) {
  int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
  return (left > right) - (left < right);
}

/* The nearest rank of a sorted sample, in milliseconds. */
static double quantile_ms(const struct sample *sample, double share) {
  size_t rank = (size_t)(share * (double)sample->count + 0.999999);
  return (double)sample->values[rank == 0 ? 0 : rank - 1] / (double)MS;
}

static void print_sample(const char *name, struct sample *sample) {
  if (sample->count == 0) {
    printf(",\"%s\":null", name);
    return;
  }
  qsort(sample->values, sample->count, sizeof *sample->values, ascending);
  printf(",\"%s\":{\"p50\":%.4f,\"p99\":%.4f,\"max\":%.4f}", name, quantile_ms(sample, 0.5), quantile_ms(sample, 0.99),
         (double)sample->values[sample->count - 1] / (double)MS);
}

static void read_request(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail(path);
  request_bytes = (size_t)ftell(file);
  rewind(file);
  request = malloc(request_bytes);
  if (fread(request, 1, request_bytes, file) != request_bytes) fail(path);
  fclose(file);
}

static void open_socket(struct connection *connection) {
  connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (connection->socket < 0) fail("socket");
  int yes = 1;
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
    fail("connect");
  }
  connection->waits_for_room = true;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = connection};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, connection->socket, &event);
}

static void watch(struct connection *connection, bool for_room) {
  if (connection->waits_for_room == for_room) return;
  connection->waits_for_room = for_room;
  struct epoll_event event = {.events = EPOLLIN | (for_room ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, connection->socket, &event);
}

static void free_connection(struct connection *connection, bool succeeded) {
  connection->is_busy = false;
  busy_count--;
  if (succeeded) add(&wholes, now_ns() - connection->asked_at);
  else failures++;
}

static void reconnect(struct connection *connection) {
  close(connection->socket);
  if (connection->is_busy) free_connection(connection, false);
  open_socket(connection);
}

/* Writes as much of the request as there is room for. */
static void write_request(struct connection *connection) {
  while (connection->is_busy && connection->written < request_bytes) {
    ssize_t count = send(connection->socket, request + connection->written, request_bytes - connection->written,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
      watch(connection, true);
      return;
    }
    if (count < 0) {
      reconnect(connection);
      return;
    }
    connection->written += (size_t)count;
  }
  watch(connection, false);
}

static void ask(struct connection *connection, int64_t asked_at) {
  message_reset(&connection->reply);
  connection->is_busy = true;
  busy_count++;
  connection->written = 0;
  connection->asked_at = asked_at;
  connection->content_at = 0;
  write_request(connection);
}

static void note_content(struct connection *connection, int64_t now) {
  if (connection->content_at != 0 && now >= gaps_from) {
    int64_t gap = now - connection->content_at;
    add(&gaps, gap);
    if (gap > LATE_GAP_MS * MS) late_gaps++;
  }
  connection->content_at = now;
}

/* Adds the one-way times of the chunks that came whole in one read, as almost all do. */
static void note_stamps(char *bytes, size_t length, int64_t now) {
  for (char *end = bytes + length, *stamp; (stamp = stamp_in(bytes, (size_t)(end - bytes))) != NULL;) {
    int64_t sent_us = read_stamp(stamp);
    if (sent_us > 0) add(&one_ways, now - sent_us * 1000);
    bytes = stamp + STAMP_DIGITS;
  }
}

static void read_reply(struct connection *connection) {
  ssize_t count = recv(connection->socket, input, sizeof input, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0 || !connection->is_busy) {
    reconnect(connection);
    return;
  }
  struct message *reply = &connection->reply;
  uint64_t content_before = reply->content_bytes;
  message_take(reply, input, (size_t)count);
  if (reply->content_bytes > content_before && gaps_from != 0) {
    int64_t now = now_ns();
    note_content(connection, now);
    if (now >= gaps_from) note_stamps(input, (size_t)count, now);
  }
  if (reply->phase == MALFORMED) reconnect(connection);
  if (reply->phase != COMPLETE) return;
  const char *after = message_field(reply, "connection");
  bool closes = after != NULL && strncasecmp(after, "close", 5) == 0;
  free_connection(connection, strncmp(reply->head, "HTTP/1.1 200", 12) == 0);
  if (closes) reconnect(connection);
}

/* Waits until a connection is ready or an instant has come, and handles what is ready. */
static void poll_until(int64_t at) {
  int64_t wait_ns = at - now_ns();
  struct timespec wait = {0};
  if (wait_ns > 0) wait = (struct timespec){.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
  struct epoll_event events[MAX_EVENTS];
  int ready = epoll_pwait2(poll_fd, events, MAX_EVENTS, &wait, NULL);
  for (int index = 0; index < ready; index++) {
    struct connection *connection = events[index].data.ptr;
    if ((events[index].events & EPOLLOUT) != 0) write_request(connection);
    if ((events[index].events & ~(uint32_t)EPOLLOUT) != 0) read_reply(connection);
  }
}

/* Every connection asks again when its reply is complete. Those that have started by then ask at least once. */
static void run_closed(int64_t begun_at, int64_t until, int64_t spread_ns) {
  int started = 0;
  do {
    int64_t now = now_ns(), next_at = until;
    while (started < connection_count) {
      next_at = begun_at + spread_ns * started / connection_count;
      if (next_at > now) break;
      started++;
    }
    for (int index = 0; index < started && busy_count < started; index++) {
      if (!connections[index].is_busy) ask(&connections[index], now_ns());
    }
    poll_until(next_at > now ? next_at : until);
  } while (now_ns() < until && failures < MAX_FAILURES);
}

static void run_rate(int64_t begun_at, int64_t until, double per_second) {
  for (long number = 0; failures < MAX_FAILURES; number++) {
    int64_t due_at = begun_at + (int64_t)((double)number / per_second * 1e9);
    if (due_at >= until) return;
    while (now_ns() < due_at) poll_until(due_at);
    bool was_late = busy_count == connection_count;
    while (busy_count == connection_count && now_ns() < until + GRACE_MS * MS) poll_until(until + GRACE_MS * MS);
    for (int index = 0; index < connection_count; index++) {
      if (connections[index].is_busy) continue;
      /* The generator's own delay in waking up is not the server's. */
      ask(&connections[index], was_late ? due_at : now_ns());
      break;
    }
  }
}

int main(int count, char **arguments) {
  if (count < 6) return fprintf(stderr, "expected: generator MODE PORT REQUEST CONNECTIONS SECONDS [NUMBER]\n"), 2;
  const char *mode = arguments[1];
  port = atoi(arguments[2]);
  read_request(arguments[3]);
  connection_count = atoi(arguments[4]);
  double seconds = atof(arguments[5]), number = count > 6 ? atof(arguments[6]) : 0;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  prctl(PR_SET_TIMERSLACK, 1);
  poll_fd = epoll_create1(0);
  connections = calloc((size_t)connection_count, sizeof *connections);
  for (int index = 0; index < connection_count; index++) open_socket(&connections[index]);
  int64_t begun_at = now_ns(), until = begun_at + (int64_t)(seconds * 1e9);
  bool is_streams = strcmp(mode, "streams") == 0;
  if (is_streams) gaps_from = begun_at + ((int64_t)number + WARM_UP_MS) * MS;
  if (strcmp(mode, "rate") == 0) run_rate(begun_at, until, number);
  else run_closed(begun_at, until, is_streams ? (int64_t)number * MS : 0);
  while (busy_count > 0 && now_ns() < until + GRACE_MS * MS) poll_until(until + GRACE_MS * MS);
  printf("{\"replies\":%zu,\"failures\":%ld,\"elapsedMs\":%.3f", wholes.count, failures + busy_count,
         (double)(now_ns() - begun_at) / (double)MS);
  print_sample("wholeMs", &wholes);
  print_sample("oneWayMs", &one_ways);
  printf(",\"gaps\":{\"count\":%zu,\"late\":%ld", gaps.count, late_gaps);
  print_sample("ms", &gaps);
  printf("}}\n");
  return 0;
}

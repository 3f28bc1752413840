/*
 * The vendor of the benchmark: fixed replies at minimal cost, one thread, epoll.
 *
 *     upstream REPLIES PACE_MS
 *
 * REPLIES is a file of replies, written by `native.ts`. A reply is a line `reply MODE WIRE COUNT` and COUNT pieces,
 * each a line with its length and then its bytes. A request for `/MODE/…` gets the reply of that mode in the wire
 * format that the rest of the path belongs to. The first piece is sent at once and each other one PACE_MS after the
 * one before. A piece with `t=` and digits has the time at which it is sent there: microseconds of the monotonic clock.
 * It prints its address when it listens, and ends when its standard input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_message.h"
#include "stamp.h"

enum { MAX_REPLIES = 64, MAX_EVENTS = 256, MAX_PACE_MS = 1000, READ_BYTES = 256 * 1024 };

struct piece {
  char *bytes;
  size_t length;
  /* The digits for the time of sending; NULL if it has none. */
  char *stamp;
};

struct reply {
  char mode[16];
  char wire[16];
  size_t count;
  struct piece *pieces;
};

struct connection {
  int socket;
  struct message request;
  const struct reply *reply;
  /* The piece that is written next, and the bytes of it that are already written. */
  size_t next;
  size_t offset;
  /* Pieces that are due. */
  size_t due;
  bool waits_for_room;
  /* Neighbours in the list of streams that are due in the same millisecond of the pace. */
  struct connection *before, *after;
  int slot;
};

static struct reply replies[MAX_REPLIES];
static size_t reply_count;
static int pace_ms;
static int poll_fd;
/* One list of paced streams for each millisecond of the pace. */
static struct connection slots[MAX_PACE_MS];
static int current_slot;
static char input[READ_BYTES];
static struct reply not_found = {"", "", 1, NULL};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void read_replies(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path);
  char line[128];
  while (fgets(line, sizeof line, file) != NULL) {
    if (reply_count == MAX_REPLIES) fail("too many replies");
    struct reply *reply = &replies[reply_count++];
    if (sscanf(line, "reply %15s %15s %zu", reply->mode, reply->wire, &reply->count) != 3) fail("not a reply");
    reply->pieces = calloc(reply->count, sizeof *reply->pieces);
    for (size_t index = 0; index < reply->count; index++) {
      struct piece *piece = &reply->pieces[index];
      if (fgets(line, sizeof line, file) == NULL) fail("not a length");
      piece->length = strtoull(line, NULL, 10);
      piece->bytes = malloc(piece->length);
      if (fread(piece->bytes, 1, piece->length, file) != piece->length) fail("not a whole piece");
      piece->stamp = stamp_in(piece->bytes, piece->length);
    }
  }
  fclose(file);
}

/* The wire format of a path, as `upstream.ts` tells it. */
static const char *wire_of(const char *path) {
  if (strstr(path, "/chat/completions") != NULL) return "chat";
  return strstr(path, "/messages") != NULL ? "messages" : "content";
}

static const struct reply *reply_to(char *head) {
  char *end = strstr(head, "\r\n");
  if (end != NULL) *end = '\0';
  char *path = strchr(head, ' ');
  if (path == NULL || path[1] != '/') return &not_found;
  const char *mode = path + 2;
  const char *wire = wire_of(mode);
  for (size_t index = 0; index < reply_count; index++) {
    size_t length = strlen(replies[index].mode);
    if (strncmp(mode, replies[index].mode, length) == 0 && mode[length] == '/' &&
        strcmp(wire, replies[index].wire) == 0) {
      return &replies[index];
    }
  }
  return &not_found;
}

static void leave_slot(struct connection *connection) {
  if (connection->slot < 0) return;
  connection->before->after = connection->after;
  connection->after->before = connection->before;
  connection->slot = -1;
}

static void join_slot(struct connection *connection) {
  /* The slot that was served last comes again in one whole pace. */
  connection->slot = (current_slot + pace_ms - 1) % pace_ms;
  struct connection *list = &slots[connection->slot];
  connection->before = list;
  connection->after = list->after;
  list->after->before = connection;
  list->after = connection;
}

static void hang_up(struct connection *connection) {
  leave_slot(connection);
  close(connection->socket);
  free(connection);
}

static void watch(struct connection *connection, bool for_room) {
  if (connection->waits_for_room == for_room) return;
  connection->waits_for_room = for_room;
  struct epoll_event event = {.events = EPOLLIN | (for_room ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, connection->socket, &event);
}

/* Writes what is due. Returns false when the client has disconnected. */
static bool write_due(struct connection *connection) {
  const struct reply *reply = connection->reply;
  while (connection->due > 0) {
    const struct piece *piece = &reply->pieces[connection->next];
    if (piece->stamp != NULL && connection->offset == 0) write_stamp(piece->stamp, now_ns() / 1000);
    ssize_t written = send(connection->socket, piece->bytes + connection->offset, piece->length - connection->offset,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EAGAIN) {
      watch(connection, true);
      return true;
    }
    if (written < 0) return false;
    connection->offset += (size_t)written;
    if (connection->offset < piece->length) continue;
    connection->offset = 0;
    connection->next++;
    connection->due--;
  }
  watch(connection, false);
  if (connection->next == reply->count) {
    leave_slot(connection);
    connection->reply = NULL;
    message_reset(&connection->request);
  }
  return true;
}

/* Reads what has come, and answers a complete request. Returns false when the client has disconnected. */
static bool read_request(struct connection *connection) {
  ssize_t count = recv(connection->socket, input, sizeof input, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return true;
  if (count <= 0 || connection->reply != NULL) return false;
  message_take(&connection->request, input, (size_t)count);
  if (connection->request.phase == MALFORMED) return false;
  if (connection->request.phase != COMPLETE) return true;
  connection->reply = reply_to(connection->request.head);
  connection->next = 0;
  connection->offset = 0;
  connection->due = 1;
  if (connection->reply->count > 1) join_slot(connection);
  return write_due(connection);
}

static void accept_all(int listener) {
  for (;;) {
    int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (socket < 0) return;
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct connection *connection = calloc(1, sizeof *connection);
    connection->socket = socket;
    connection->slot = -1;
    message_reset(&connection->request);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, socket, &event);
  }
}

static void serve_slot(void) {
  struct connection *list = &slots[current_slot];
  for (struct connection *one = list->after, *following; one != list; one = following) {
    following = one->after;
    if (one->next + one->due < one->reply->count) one->due++;
    if (!write_due(one)) hang_up(one);
  }
  current_slot = (current_slot + 1) % pace_ms;
}

static int listen_on_loopback(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 4096) < 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int main(int count, char **arguments) {
  if (count != 3) return fprintf(stderr, "expected: upstream REPLIES PACE_MS\n"), 2;
  pace_ms = atoi(arguments[2]);
  if (pace_ms < 1 || pace_ms > MAX_PACE_MS) return fprintf(stderr, "expected a pace from 1 to 1000 ms\n"), 2;
  prctl(PR_SET_TIMERSLACK, 1);
  read_replies(arguments[1]);
  static struct piece refusal = {"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 0, NULL};
  refusal.length = strlen(refusal.bytes);
  not_found.pieces = &refusal;
  for (int slot = 0; slot < pace_ms; slot++) slots[slot].before = slots[slot].after = &slots[slot];
  poll_fd = epoll_create1(0);
  int listener = listen_on_loopback();
  struct epoll_event listening = {.events = EPOLLIN, .data.ptr = &listener};
  struct epoll_event parent = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &listening);
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &parent);
  struct epoll_event events[MAX_EVENTS];
  int64_t slot_at = now_ns() + 1000000;
  for (;;) {
    int64_t wait_ns = slot_at - now_ns();
    struct timespec wait = {.tv_nsec = wait_ns > 0 ? wait_ns : 0};
    int ready = epoll_pwait2(poll_fd, events, MAX_EVENTS, &wait, NULL);
    for (int index = 0; index < ready; index++) {
      void *source = events[index].data.ptr;
      if (source == NULL) return 0;
      if (source == &listener) {
        accept_all(listener);
        continue;
      }
      struct connection *connection = source;
      bool is_open = true;
      if ((events[index].events & EPOLLOUT) != 0) is_open = write_due(connection);
      if (is_open && (events[index].events & ~(uint32_t)EPOLLOUT) != 0) is_open = read_request(connection);
      if (!is_open) hang_up(connection);
    }
    for (int64_t now = now_ns(); slot_at <= now; slot_at += 1000000) serve_slot();
  }
}

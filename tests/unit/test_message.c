/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Message frames: round trips, and every way a sender can break them.
 */
#include "wavesmith/base.h"
#include "ws_test.h"

#include <math.h>
#include <signal.h>

#include <sys/socket.h>

static int ours, theirs;

static void open_pair(void) {
  int ends[2];
  WS_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  ours = ends[0];
  theirs = ends[1];
}

struct received {
  ws_status status;
  char *json;
  void *blob;
  size_t blob_size;
  bool eof;
  ws_diag diag;
};

static struct received receive(ws_arena *arena, int timeout_ms) {
  struct received got = {.eof = true};
  got.status = ws_message_receive(ours, timeout_ms, arena, &got.json, &got.blob,
                                  &got.blob_size, &got.eof, &got.diag);
  return got;
}

WS_TEST(round_trip) {
  open_pair();
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  WS_CHECK_INT(ws_message_send(theirs, "{\"a\":1}", "\0\1\2", 3, &diag), WS_OK);
  WS_CHECK_INT(ws_message_send(theirs, "", NULL, 0, &diag), WS_OK);
  struct received got = receive(arena, 1000);
  WS_CHECK_INT(got.status, WS_OK);
  WS_CHECK_TEXT(got.json, "{\"a\":1}");
  WS_CHECK_INT(got.blob_size, 3);
  WS_CHECK(!memcmp(got.blob, "\0\1\2", 3));
  WS_CHECK(!got.eof);
  got = receive(arena, 1000);
  WS_CHECK_INT(got.status, WS_OK);
  WS_CHECK_TEXT(got.json, "");
  WS_CHECK_INT(got.blob_size, 0);
  ws_arena_destroy(arena);
}

/* The frame as the header describes it, written by hand. */
WS_TEST(layout_is_little_endian_sizes_json_blob) {
  open_pair();
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  WS_CHECK_INT(ws_message_send(theirs, "[]", "xyz", 3, &diag), WS_OK);
  char bytes[16];
  WS_CHECK_INT(recv(ours, bytes, sizeof bytes, 0), 13);
  WS_CHECK(!memcmp(bytes, "\2\0\0\0\3\0\0\0[]xyz", 13));
  ws_arena_destroy(arena);
}

WS_TEST(large_messages_pass) {
  open_pair();
  enum { SIZE = 8 << 20 };
  unsigned char *blob = malloc(SIZE);
  for (int i = 0; i < SIZE; i++)
    blob[i] = (unsigned char)(i * 7 + i / 251);
  pid_t sender = fork();
  if (sender == 0)
    _exit(ws_message_send(theirs, "{}", blob, SIZE, NULL) != WS_OK);
  ws_arena *arena = ws_arena_create();
  struct received got = receive(arena, 10000);
  WS_CHECK_INT(got.status, WS_OK);
  WS_CHECK_INT(got.blob_size, SIZE);
  WS_CHECK(!memcmp(got.blob, blob, SIZE));
  waitpid(sender, NULL, 0);
  free(blob);
  ws_arena_destroy(arena);
}

WS_TEST(end_of_stream_between_messages_is_clean) {
  open_pair();
  ws_arena *arena = ws_arena_create();
  close(theirs);
  struct received got = receive(arena, 1000);
  WS_CHECK_INT(got.status, WS_ENVIRONMENT);
  WS_CHECK(got.eof);
  WS_CHECK_CONTAINS(got.diag.text, "closed the connection");
  ws_arena_destroy(arena);
}

WS_TEST(end_of_stream_within_a_message_is_a_fault) {
  static const char frame[] = "\4\0\0\0\2\0\0\0[12]xy";
  ws_arena *arena = ws_arena_create();
  for (size_t size = 1; size < 14; size++) {
    open_pair();
    WS_CHECK(send(theirs, frame, size, 0) == (ssize_t)size);
    close(theirs);
    struct received got = receive(arena, 1000);
    WS_CHECK_INT(got.status, WS_ENVIRONMENT);
    WS_CHECK(!got.eof);
    WS_CHECK(got.json == NULL);
    close(ours);
  }
  ws_arena_destroy(arena);
}

WS_TEST(too_large_sizes_are_refused_before_memory_is_taken) {
  static const char frames[2][9] = {"\1\0\0\4\0\0\0\0",
                                    "\0\0\0\0\xff\xff\xff\xff"};
  ws_arena *arena = ws_arena_create();
  for (int i = 0; i < 2; i++) {
    open_pair();
    WS_CHECK(send(theirs, frames[i], 8, 0) == 8);
    struct received got = receive(arena, 1000);
    WS_CHECK_INT(got.status, WS_ENVIRONMENT);
    WS_CHECK_CONTAINS(got.diag.text, "malformed message");
  }
  ws_diag diag;
  WS_CHECK_INT(
      ws_message_send(theirs, "", "", (size_t)WS_MESSAGE_MAX + 1, &diag),
      WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "too large");
  ws_arena_destroy(arena);
}

WS_TEST(nul_in_json_is_refused) {
  open_pair();
  ws_arena *arena = ws_arena_create();
  WS_CHECK(send(theirs, "\3\0\0\0\0\0\0\0[\0]", 11, 0) == 11);
  struct received got = receive(arena, 1000);
  WS_CHECK_INT(got.status, WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(got.diag.text, "NUL");
  ws_arena_destroy(arena);
}

/* One byte each 20 ms keeps a poll awake, but not a deadline. */
WS_TEST(time_out_covers_the_whole_message) {
  open_pair();
  pid_t sender = fork();
  if (sender == 0) {
    send(theirs, "\200\0\0\0\0\0\0\0", 8, 0);
    for (;;) {
      send(theirs, "x", 1, MSG_NOSIGNAL);
      usleep(20000);
    }
  }
  ws_arena *arena = ws_arena_create();
  double start = ws_clock_ms();
  struct received got = receive(arena, 200);
  double passed = ws_clock_ms() - start;
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  WS_CHECK_INT(got.status, WS_ENVIRONMENT);
  WS_CHECK(!got.eof);
  WS_CHECK_CONTAINS(got.diag.text, "in time");
  WS_CHECK(passed >= 199 && passed < 1500);
  ws_arena_destroy(arena);
}

WS_TEST(time_out_of_zero_does_not_wait) {
  open_pair();
  ws_arena *arena = ws_arena_create();
  double least_ms = INFINITY; /* a busy machine may take a break in one */
  for (int i = 0; i < 10; i++) {
    double start = ws_clock_ms();
    WS_CHECK_INT(receive(arena, 0).status, WS_ENVIRONMENT);
    least_ms = fmin(least_ms, ws_clock_ms() - start);
  }
  WS_CHECK(least_ms < 100);
  ws_diag diag;
  WS_CHECK_INT(ws_message_send(theirs, "{}", NULL, 0, &diag), WS_OK);
  WS_CHECK_INT(receive(arena, 0).status, WS_OK);
  ws_arena_destroy(arena);
}

WS_TEST(sending_to_nobody_fails_without_a_signal) {
  open_pair();
  close(ours);
  ws_diag diag;
  WS_CHECK_INT(ws_message_send(theirs, "{}", NULL, 0, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "Broken pipe");
}

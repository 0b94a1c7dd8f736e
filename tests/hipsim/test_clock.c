/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The simulated clock: streams, events, the null stream, the host. Built from
 * copies and fills, whose times are simple: a fill of 46 MB takes 2.5 + 10 us
 * on the compute units, a copy of 5.5 MB from the host 10 + 100 us on the link.
 */
#include "hipsim_test.h"

enum { FILL = 46000000, COPY = 5500000 };
static const double fill_us = 12.5, copy_us = 110;
static void *fill_buffer, *copy_buffer;
static char host[COPY];

static void make_buffers(void) {
  OK(hipMalloc(&fill_buffer, FILL));
  OK(hipMalloc(&copy_buffer, COPY));
}
static void fill(hipStream_t stream) {
  OK(hipMemsetAsync(fill_buffer, 1, FILL, stream));
}
static void copy(hipStream_t stream) {
  OK(hipMemcpyAsync(copy_buffer, host, COPY, hipMemcpyHostToDevice, stream));
}
static hipEvent_t mark(hipStream_t stream) {
  hipEvent_t event;
  OK(hipEventCreate(&event));
  OK(hipEventRecord(event, stream));
  return event;
}
static double between_us(hipEvent_t from, hipEvent_t to) {
  float ms = -1;
  OK(hipEventElapsedTime(&ms, from, to));
  return (double)ms * 1e3;
}
static hipStream_t new_stream(unsigned flags) {
  hipStream_t stream;
  OK(hipStreamCreateWithFlags(&stream, flags));
  return stream;
}

WS_TEST(work_takes_its_time) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipEvent_t a = mark(s);
  fill(s);
  hipEvent_t b = mark(s);
  copy(s);
  fill(s);
  hipEvent_t c = mark(s);
  WS_CHECK_NEAR(between_us(a, b), fill_us, 1e-3);
  WS_CHECK_NEAR(between_us(b, c), copy_us + fill_us, 1e-3);
}

WS_TEST(copies_overlap_with_kernels_of_other_streams) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(s);
  copy(s);
  fill(t);
  WS_CHECK_NEAR(between_us(start, mark(t)), fill_us, 1e-3);
  WS_CHECK_NEAR(between_us(start, mark(s)), copy_us, 1e-3);
}

/* One behind another costs 1.0 us in place of 2.5. */
static const double saved_us = 2.5 - 1.0;
WS_TEST(kernels_of_streams_follow_each_other) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(s);
  fill(s);
  fill(t);
  WS_CHECK_NEAR(between_us(start, mark(t)), 2 * fill_us - saved_us, 1e-3);
}

/* Not behind a timed event, nor where the host has waited. */
WS_TEST(work_behind_work_costs_less) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipEvent_t untimed, start = mark(s);
  OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  fill(s);
  fill(s);
  OK(hipEventRecord(untimed, s));
  fill(s);
  hipEvent_t three = mark(s);
  fill(s);
  hipEvent_t four = mark(s);
  fill(s);
  OK(hipStreamSynchronize(s));
  fill(s);
  hipEvent_t six = mark(s);
  WS_CHECK_NEAR(between_us(start, three), 3 * fill_us - 2 * saved_us, 1e-3);
  WS_CHECK_NEAR(between_us(three, four), fill_us, 1e-3);
  WS_CHECK_NEAR(between_us(four, six), 2 * fill_us, 1e-3);
}

WS_TEST(null_stream_waits_for_blocking_streams) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamDefault);
  hipEvent_t start = mark(s);
  copy(s);
  fill(NULL);
  WS_CHECK_NEAR(between_us(start, mark(NULL)), copy_us + fill_us, 1e-3);
}

WS_TEST(blocking_streams_wait_for_the_null_stream) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamDefault);
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(NULL);
  copy(NULL);
  fill(t);
  WS_CHECK_NEAR(between_us(start, mark(t)), fill_us, 1e-3);
  fill(s);
  WS_CHECK_NEAR(between_us(start, mark(s)), copy_us + fill_us, 1e-3);
}

WS_TEST(streams_wait_for_events) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(s), never;
  copy(s);
  OK(hipStreamWaitEvent(t, mark(s), 0));
  fill(t);
  WS_CHECK_NEAR(between_us(start, mark(t)), copy_us + fill_us, 1e-3);
  OK(hipEventCreate(&never));
  OK(hipStreamWaitEvent(t, never, 0));
}

WS_TEST(host_waits_before_it_submits_more) {
  make_buffers();
  hipStream_t s = new_stream(hipStreamNonBlocking);
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(s);
  copy(s);
  OK(hipStreamSynchronize(s));
  WS_CHECK_NEAR(between_us(start, mark(t)), copy_us, 1e-3);
  copy(s);
  OK(hipDeviceSynchronize());
  WS_CHECK_NEAR(between_us(start, mark(t)), 2 * copy_us, 1e-3);
}

WS_TEST(synchronous_copies_wait) {
  make_buffers();
  hipStream_t t = new_stream(hipStreamNonBlocking);
  hipEvent_t start = mark(t);
  OK(hipMemcpy(copy_buffer, host, COPY, hipMemcpyHostToDevice));
  WS_CHECK_NEAR(between_us(start, mark(t)), copy_us, 1e-3);
}

WS_TEST(events_without_a_time) {
  float ms;
  hipEvent_t fresh, untimed, timed = mark(NULL);
  OK(hipEventCreate(&fresh));
  OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  OK(hipEventRecord(untimed, NULL));
  OK(hipEventQuery(fresh));
  OK(hipEventSynchronize(fresh));
  FAILS(hipEventElapsedTime(&ms, timed, fresh), hipErrorInvalidHandle);
  FAILS(hipEventElapsedTime(&ms, untimed, timed), hipErrorInvalidHandle);
  FAILS(hipEventCreateWithFlags(&fresh, 0x7000), hipErrorInvalidValue);
}

WS_TEST(special_streams) {
  make_buffers();
  hipEvent_t start = mark(NULL);
  fill(hipStreamPerThread);
  WS_CHECK_NEAR(between_us(start, mark(hipStreamPerThread)), fill_us, 1e-3);
  fill(hipStreamLegacy);
  WS_CHECK_NEAR(between_us(start, mark(NULL)), 2 * fill_us, 1e-3);
  OK(hipStreamQuery(hipStreamPerThread));
  FAILS(hipStreamDestroy(hipStreamPerThread), hipErrorInvalidHandle);
  FAILS(hipStreamDestroy(NULL), hipErrorInvalidHandle);
}

static void note(void *data) { *(int *)data += 1; }
static void note_stream(hipStream_t stream, hipError_t status, void *data) {
  *(int *)data += status == hipSuccess && stream != NULL;
}

WS_TEST(host_functions_run) {
  int calls = 0;
  hipStream_t s = new_stream(hipStreamDefault);
  OK(hipLaunchHostFunc(s, note, &calls));
  OK(hipStreamAddCallback(s, note_stream, &calls, 0));
  WS_CHECK_INT(calls, 2);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The report's data on a small archive whose speed-ups, best-so-far series,
 * flow and costs are worked out by hand, and what becomes of hostile texts in
 * the page. The archive, times in us on the shapes A = 1024,512,512 and
 * B = 6144,512,512, device and estimate:
 *
 *   number  run, seq  verdict    device A, B   speed-up    estimate A, B
 *   0       1, 0      ok         100, 400      1           10, 10
 *   1       1, 1      ok          50, 200      2            5, 20  (1)
 *   2       1, 2      wrong        -            -           -
 *   3       1, 3      ok          25, -        (4 on one)   -
 *   4       1, 4      ok          12.5, 200    sqrt 16 = 4  2, 2   (5)
 *   5       1, 5      slow        25, 100      4            -
 *   6       1, 6      duplicate    1, 1         -           -
 *   7       1, 7      wrong        -            -           1, 1
 *   -       2, 0      number 0 again
 *   8       2, 1      ok          20, 80       5            -
 */
#include "../archive/fixture.h"
#include "../gemm_shape.h"
#include "wavesmith/report.h"
#include "wavesmith/sim_error.h"

#include <cjson/cJSON.h>
#include <unistd.h>

static const char old_model[] = "sim:gfx942-model-1:MI300X";
static const char *device_name = old_model; /* each test has its process */
static const char estimate_name[] = "estimate:bound-model-1:MI300X";

typedef struct desk {
  ws_arena *arena;
  ws_archive *archive;
  const ws_template *tmpl;
  int64_t runs[2];
  const char *ids[9];
} desk;

/* ---- the archive ---- */
typedef struct plan {
  int run;
  int64_t sequence;
  const char *proposer, *verdict, *stage, *label;
  int parent;       /* -1: none */
  double device[2]; /* us on A, B; 0: none */
  double estimate[2];
} plan;

#define HOSTILE "<img src=x onerror=alert(1)></script><!-- \xff"

static const plan plans[] = {
    {0, 0, "baseline", "ok", "", "", -1, {100, 400}, {10, 10}},
    {0, 1, "default", "ok", "", "", -1, {50, 200}, {5, 20}},
    {0, 2, "random", "wrong", "sanitize", "", 1, {0, 0}, {0, 0}},
    {0, 3, "random", "ok", "", "", 1, {25, 0}, {0, 0}},
    {0, 4, "openai:m", "ok", "", HOSTILE, 1, {12.5, 200}, {2, 2}},
    {0, 5, "random", "slow", "time", "", 4, {25, 100}, {0, 0}},
    {0, 6, "random", "duplicate", "", "", 4, {1, 1}, {0, 0}},
    {0, 7, "openai:m", "wrong", "device", "", 4, {0, 0}, {1, 1}},
    {1, 1, "random", "ok", "", "", -1, {20, 80}, {0, 0}},
};
enum { PLANS = sizeof plans / sizeof plans[0] };

static int plan_times(const plan *p, ws_measurement *out) {
  const struct {
    const char *provenance;
    const double *us;
  } sources[] = {{device_name, p->device}, {estimate_name, p->estimate}};
  int count = 0;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 2; i++)
      if (sources[s].us[i] > 0)
        out[count++] =
            (ws_measurement){.shape = gemm_shape(i ? 6144 : 1024, 512, 512),
                             .us = sources[s].us[i],
                             .bound = "lds",
                             .provenance = sources[s].provenance,
                             .low_us = sources[s].us[i] * 0.8,
                             .high_us = sources[s].us[i] * 1.25};
  return count;
}

static void put_plan(desk *d, int number) {
  const plan *p = &plans[number];
  ws_measurement times[4];
  ws_candidate *candidate = fixture_candidate(d->arena, d->tmpl, number);
  ws_candidate_row row =
      fixture_row(d->arena, candidate, d->runs[p->run], p->sequence);
  row.proposer = p->proposer;
  row.verdict = p->verdict;
  row.stage = p->stage;
  row.label = p->label;
  row.parent_id = p->parent < 0 ? "" : d->ids[p->parent];
  row.kind = row.cell = row.second_parent_id = "";
  if (number == 4)
    row.result_json = "{\"kernels\":[{\"name\":\"kernel\",\"vgpr\":96}]}";
  d->ids[number] = ws_arena_strdup(d->arena, candidate->id.hex);
  MUST(ws_archive_put_candidate(d->archive, &row, candidate, NULL, 0, times,
                                plan_times(p, times), diag));
}

static ws_exchange_row exchange_row(desk *d, int64_t sequence, const char *kind,
                                    int candidate, const char *verdict) {
  return (ws_exchange_row){.run_id = d->runs[0],
                           .sequence = sequence,
                           .kind = kind,
                           .member = "openai:m",
                           .prompt_version = "exploit 1",
                           .prompt_hash = "",
                           .prompt_cut = "",
                           .system = "s",
                           .prompt = "p",
                           .reply = "a reply with </script> in it",
                           .error = "",
                           .prompt_tokens = 100,
                           .reply_tokens = 10,
                           .usd = 0.25,
                           .seconds = 2,
                           .candidate_id =
                               candidate < 0 ? "" : d->ids[candidate],
                           .verdict = verdict,
                           .stage = "",
                           .reason = "",
                           .claims_json = ""};
}

static void put_exchange(desk *d, const ws_exchange_row *row) {
  MUST(ws_archive_put_exchange(d->archive, row, diag));
  MUST(ws_archive_set_outcome(d->archive, row, diag));
}

/* Two candidates, one of which holds its claim, a document, a reply without a
 * candidate, and no answer. */
static void put_exchanges(desk *d) {
  ws_exchange_row row = exchange_row(d, 4, "exploit", 4, "ok");
  row.claims_json = "[{\"what\":\"speedup\",\"low\":1.5,\"high\":2.5,"
                    "\"measured\":2},{\"what\":\"vgpr\",\"low\":1,\"high\":2}]";
  row.reward = 0.5;
  put_exchange(d, &row);
  row = exchange_row(d, 7, "exploit", 7, "wrong");
  row.claims_json = "no JSON";
  row.reward = -1;
  put_exchange(d, &row);
  row = exchange_row(d, 8, "distil", -1, "");
  put_exchange(d, &row);
  row = exchange_row(d, 9, "exploit", -1, "illegal");
  put_exchange(d, &row);
  row = exchange_row(d, 10, "exploit", -1, "");
  row.error = "429";
  put_exchange(d, &row);
}

static void put_rest(desk *d) {
  static const char report[] =
      "{\"kernel\":\"kernel\",\"us\":9,\"profile\":{\"kernel\":\"kernel\","
      "\"bound\":\"lds\",\"us\":9,\"lines\":["
      "{\"region\":\"kernel\",\"file\":\"/x/"
      "small.ll\",\"line\":2,\"share\":0.5,"
      "\"stalls\":{\"lds\":0.3,\"vmem\":0.6,\"issue\":0.1}},"
      "{\"region\":\"stage\",\"file\":\"stage.ll\",\"line\":1,\"share\":0.25},"
      "{\"region\":\"stage\",\"file\":\"s_barrier\",\"line\":0,\"share\":0.1},"
      "{\"region\":\"other\",\"file\":\"other.ll\",\"line\":7,\"share\":0.1}]}}"
      "\nnot JSON\n";
  const ws_findings_row findings[] = {{d->runs[0], 8, "older"},
                                      {d->runs[0], 11, "newer " HOSTILE}};
  const ws_confirmation_row confirmation = {
      d->ids[4], d->ids[0], device_name, d->runs[0], "ok", "",
      4,         3,         1.5,         0.01,       5,    2};
  const ws_shape shape = gemm_shape(1024, 512, 512);
  MUST(ws_archive_put_profile(d->archive, d->ids[4], device_name, &shape,
                              report, diag));
  for (int i = 0; i < 2; i++)
    MUST(ws_archive_put_findings(d->archive, &findings[i], diag));
  MUST(ws_archive_put_confirmation(d->archive, &confirmation, diag));
}

static desk open_desk(void) {
  desk d = {.arena = ws_arena_create()};
  d.tmpl = fixture_template(d.arena);
  MUST(ws_archive_open(":memory:", true, &d.archive, diag));
  MUST(ws_archive_put_template(d.archive, d.tmpl, template_text, NULL, diag));
  d.runs[0] = fixture_run(d.archive, d.tmpl, 7);
  d.runs[1] = fixture_run(d.archive, d.tmpl, 8);
  for (int i = 0; i < PLANS; i++)
    put_plan(&d, i);
  MUST(ws_archive_put_draw(d.archive, d.runs[1], 0, d.ids[0], diag));
  put_exchanges(&d);
  put_rest(&d);
  return d;
}

static void close_desk(desk *d, cJSON *owned_data) {
  cJSON_Delete(owned_data);
  ws_archive_close(d->archive);
  ws_arena_destroy(d->arena);
}

/* ---- reading the document ---- */
static cJSON *data_of(ws_archive *archive, ws_report_options options) {
  cJSON *data;
  options.archive_name = "some/where/the.db";
  MUST(ws_report_data(archive, &options, &data, diag));
  return data;
}

/* "views/0/progress/1" */
static const cJSON *at(const cJSON *json, const char *path) {
  char copy[200], *rest = copy, *part;
  snprintf(copy, sizeof copy, "%s", path);
  while ((part = strsep(&rest, "/"))) {
    json = cJSON_IsArray(json)
               ? cJSON_GetArrayItem(json, (int)strtol(part, NULL, 10))
               : cJSON_GetObjectItemCaseSensitive(json, part);
    if (!json)
      WS_FAIL("the data has no %s", path);
  }
  return json;
}

static void check_json(const cJSON *data, const char *path, const char *want) {
  char *got = cJSON_PrintUnformatted(at(data, path));
  if (strcmp(got, want))
    WS_FAIL("%s is %s, want %s", path, got, want);
  cJSON_free(got);
}

/* ---- what compares ---- */
WS_TEST(speed_ups_and_the_best_so_far) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  check_json(data, "archive", "\"the.db\"");
  check_json(data, "candidates/count", "9");
  check_json(data, "provenances/0/name", "\"sim:gfx942-model-1:MI300X\"");
  check_json(data, "provenances/0/word", "\"simulated\"");
  check_json(data, "provenances/0/candidates", "7");
  check_json(data, "provenances/0/times", "13");
  check_json(data, "provenances/1/word", "\"estimated\"");
  check_json(data, "views/0/provenance", "0");
  check_json(data, "views/0/reference", "0");
  check_json(data, "views/0/role", "\"baseline\"");
  check_json(data, "views/0/speedup", "[1,2,null,null,4,4,null,null,5]");
  check_json(data, "views/0/partial", "[[3,4,1]]");
  check_json(data, "runs/0/draws", "[0,1,2,3,4,5,6,7]");
  check_json(data, "runs/1/draws", "[0,8]");
  check_json(data, "views/0/progress/0", "[[1,0,1],[2,1,2],[5,4,4]]");
  check_json(data, "views/0/progress/1", "[[1,0,1],[2,8,5]]");
  check_json(data, "views/0/top", "[8,4,5,1,0]");
  close_desk(&d, data);
}

/* A: 12.5 by number 4 is the best, B: 80 by number 8. Two more candidates, one
 * of them wrong, lie within the error of the best on one shape and beyond it on
 * the other. */
WS_TEST(what_the_model_cannot_tell_apart) {
  char name[64];
  snprintf(name, sizeof name, "sim:gfx942-model-%d:MI300X", ws_sim_error_model);
  device_name = name;
  desk d = open_desk();
  const double equal = ws_sim_error_equal(name);
  static const double others[2][5] = {{100, 50, 25, 25, 20},
                                      {400, 200, 200, 200, 100}};
  int want[2] = {1, 0}; /* of the two more */
  for (int i = 0; i < 5; i++) {
    want[0] += others[0][i] / 12.5 < 1 + equal;
    want[1] += others[1][i] / 80 < 1 + equal;
  }
  WS_CHECK(equal > 0);
  const double near[2][2] = {{12.5 * (1 + equal / 2), 80 * (1 + 1.2 * equal)},
                             {12.5 * (1 + 1.2 * equal), 80 * (1 + equal / 2)}};
  for (int i = 0; i < 2; i++) {
    ws_candidate *candidate = fixture_candidate(d.arena, d.tmpl, 20 + i);
    ws_candidate_row row = fixture_row(d.arena, candidate, d.runs[1], 20 + i);
    ws_measurement times[2];
    row.proposer = "random";
    row.verdict = i ? "wrong" : "ok"; /* what is wrong counts for nothing */
    for (int s = 0; s < 2; s++)
      times[s] = (ws_measurement){
          gemm_shape(s ? 6144 : 1024, 512, 512), near[i][s], "lds", name, 0, 0};
    MUST(ws_archive_put_candidate(d.archive, &row, candidate, NULL, 0, times, 2,
                                  diag));
  }
  cJSON *data = data_of(d.archive, (ws_report_options){.provenance = "sim"});
  WS_CHECK_NEAR(at(data, "provenances/0/equal_below")->valuedouble, equal,
                1e-4);
  WS_CHECK_INT(at(data, "provenances/0/equal_pairs")->valueint,
               ws_sim_error_pairs_below(equal).pairs);
  WS_CHECK_INT(at(data, "views/0/shapes/0/equal")->valueint, want[0]);
  WS_CHECK_INT(at(data, "views/0/shapes/1/equal")->valueint, want[1]);
  WS_CHECK_NEAR(at(data, "views/0/shapes/0/error")->valuedouble,
                ws_sim_error_of_bound("lds"), 1e-4);
  WS_CHECK_NEAR(at(data, "details/0/times/0/error")->valuedouble,
                ws_sim_error_of_bound("lds"), 1e-4);
  close_desk(&d, data);
}

WS_TEST(an_older_model_and_estimates_have_no_error) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  for (int p = 0; p < 2; p++)
    WS_CHECK(!cJSON_HasObjectItem(
        cJSON_GetArrayItem(at(data, "provenances"), p), "equal_below"));
  WS_CHECK(!cJSON_HasObjectItem(at(data, "views/0/shapes/0"), "equal"));
  WS_CHECK(!cJSON_HasObjectItem(at(data, "details/0/times/0"), "error"));
  close_desk(&d, data);
}

WS_TEST(provenances_and_references_are_views_of_their_own) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "views")), 4);
  check_json(data, "views/1/role", "\"default\"");
  check_json(data, "views/1/speedup", "[0.5,1,null,null,2,2,null,null,2.5]");
  check_json(data, "views/2/provenance", "1");
  check_json(data, "views/2/speedup", "[1,1,null,null,5,null,null,null,null]");
  check_json(data, "views/3/role", "\"default\"");
  cJSON_Delete(data);
  data = data_of(d.archive, (ws_report_options){.provenance = "est"});
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "provenances")), 1);
  check_json(data, "views/0/progress/0", "[[1,0,1],[5,4,5]]");
  check_json(data, "confirmations", "[]");
  close_desk(&d, data);
}

WS_TEST(the_best_on_every_shape) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "views/0/shapes")), 2);
  check_json(data, "views/0/shapes/0/shape", "[1024,512,512]");
  check_json(data, "views/0/shapes/0/reference", "[100,80,125]");
  check_json(data, "views/0/shapes/0/best", "[12.5,10,15.625]");
  check_json(data, "views/0/shapes/0/candidate", "4");
  check_json(data, "views/0/shapes/0/leader", "[20,16,25]");
  check_json(data, "views/0/shapes/1/best", "[80,64,100]");
  check_json(data, "views/0/shapes/1/candidate", "8");
  close_desk(&d, data);
}

WS_TEST(one_run_alone) {
  desk d = open_desk();
  cJSON *data = data_of(
      d.archive, (ws_report_options){.runs = &d.runs[1], .run_count = 1});
  check_json(data, "candidates/count", "2");
  check_json(data, "hidden_runs/0/id", "1");
  check_json(data, "views/0/progress/0", "[[1,0,1],[2,1,5]]");
  check_json(data, "cost", "[]");
  check_json(data, "findings", "[]");
  close_desk(&d, data);
}

/* ---- flow, cost, claims ---- */
WS_TEST(the_flow_loses_nothing) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  check_json(data, "flow/verdicts",
             "{\"ok\":5,\"wrong\":2,\"slow\":1,\"duplicate\":1}");
  check_json(data, "flow/links",
             "[[\"requests\",\"no answer\",1],[\"requests\",\"replies\",4],"
             "[\"replies\",\"documents\",1],[\"replies\",\"no candidate\",1],"
             "[\"replies\",\"candidates\",2],"
             "[\"built-in moves\",\"candidates\",7],"
             "[\"candidates\",\"spliced\",9],[\"spliced\",\"checked\",9],"
             "[\"checked\",\"wrong\",1],[\"checked\",\"sanitized\",8],"
             "[\"sanitized\",\"compiled\",8],[\"compiled\",\"duplicate\",1],"
             "[\"compiled\",\"wrong\",1],"
             "[\"compiled\",\"timed\",6]]");
  close_desk(&d, data);
}

WS_TEST(cost_by_member_and_kind) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "cost")), 2);
  check_json(data, "cost/0",
             "{\"member\":\"openai:m\",\"kind\":\"exploit\",\"requests\":4,"
             "\"unanswered\":1,\"documents\":0,\"refused\":1,\"candidates\":2,"
             "\"ok\":1,\"prompt_tokens\":400,\"reply_tokens\":40,\"usd\":1,"
             "\"seconds\":8,\"gain\":0.5}");
  check_json(data, "cost/1/kind", "\"distil\"");
  check_json(data, "cost/1/documents", "1");
  close_desk(&d, data);
}

WS_TEST(claims_with_and_without_an_outcome) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  check_json(data, "claims",
             "{\"open\":1,\"points\":[{\"what\":\"speedup\",\"low\":1.5,"
             "\"high\":2.5,\"measured\":2,\"kind\":\"exploit\","
             "\"member\":\"openai:m\",\"candidate\":4}]}");
  check_json(data, "confirmations/0/candidate", "4");
  check_json(data, "confirmations/0/held_out", "3");
  check_json(data, "confirmations/0/chosen", "5");
  check_json(data, "confirmations/0/chosen_shapes", "2");
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "findings")), 1);
  check_json(data, "findings/0/version", "2");
  WS_CHECK_CONTAINS(at(data, "findings/0/text")->valuestring, "newer <img");
  close_desk(&d, data);
}

/* ---- details ---- */
WS_TEST(hot_lines_are_quoted) {
  desk d = open_desk();
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  check_json(data, "details/1/candidate", "4");
  check_json(data, "details/1/kernels", "[{\"name\":\"kernel\",\"vgpr\":96}]");
  check_json(data, "details/1/regions",
             "[{\"region\":\"stage\",\"language\":\"ir\","
             "\"text\":\"; body 4\\n\"}]");
  check_json(data, "details/1/parameters/1/name", "\"tile_m\"");
  check_json(data, "details/1/parameters/1/value", "64");
  check_json(data, "details/1/exchange/reply",
             "\"a reply with </script> in it\"");
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "details/1/profile/launches")), 1);
  const cJSON *lines = at(data, "details/1/profile/launches/0/lines");
  check_json(lines, "0/source", "\"define void @kernel() { ret void }\"");
  check_json(lines, "0/waits", "\"vmem\"");
  check_json(lines, "0/file", "\"small.ll\"");
  check_json(lines, "1/source", "\"; body 4\"");
  check_json(lines, "2/instruction", "\"s_barrier\"");
  check_json(lines, "3/source", "\"\"");
  close_desk(&d, data);
}

/* ---- hostile texts ---- */
static int occurrences(const char *text, const char *part) {
  int count = 0;
  while ((text = strstr(text, part))) {
    count++;
    text += strlen(part);
  }
  return count;
}

WS_TEST(no_text_becomes_markup) {
  desk d = open_desk();
  ws_archive *nothing;
  MUST(ws_archive_open(":memory:", true, &nothing, diag));
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  cJSON *none = data_of(nothing, (ws_report_options){.layout = NULL});
  ws_strbuf page, empty_page;
  ws_strbuf_init(&page);
  ws_strbuf_init(&empty_page);
  ws_report_page(data, &page);
  ws_report_page(none, &empty_page);
  const char *begin = strstr(page.data, "<script type=\"application/json\"");
  WS_CHECK(begin && strlen(page.data) == page.size);
  begin = strchr(begin, '>') + 1;
  char *json = ws_arena_strndup(d.arena, begin, strcspn(begin, "<"));
  cJSON *back = cJSON_Parse(json);
  WS_CHECK(cJSON_Compare(back, data, true));
  const char *const marks[] = {"<img", "</script", "<script", "<!--", "\xff"};
  for (int i = 0; i < 5; i++)
    WS_CHECK_INT(occurrences(page.data, marks[i]),
                 occurrences(empty_page.data, marks[i]));
  WS_CHECK_CONTAINS(at(data, "candidates/label/4")->valuestring,
                    "<!-- \xef\xbf\xbd");
  cJSON_Delete(back);
  cJSON_Delete(none);
  ws_strbuf_deinit(&page);
  ws_strbuf_deinit(&empty_page);
  ws_archive_close(nothing);
  close_desk(&d, data);
}

/* ---- nothing, or not that ---- */
WS_TEST(an_archive_without_runs) {
  ws_archive *archive;
  MUST(ws_archive_open(":memory:", true, &archive, diag));
  cJSON *data = data_of(archive, (ws_report_options){.layout = "kmajor"});
  check_json(data, "runs", "[]");
  check_json(data, "views", "[]");
  check_json(data, "task/problem", "\"\"");
  check_json(data, "candidates/count", "0");
  check_json(data, "flow", "{\"verdicts\":{},\"links\":[]}");
  cJSON_Delete(data);
  ws_archive_close(archive);
}

static void must_refuse(desk *d, ws_report_options options, const char *part) {
  cJSON *data;
  options.archive_name = "the.db";
  MUST_FAIL(ws_report_data(d->archive, &options, &data, diag), WS_INPUT, part);
  WS_CHECK(!data);
}

WS_TEST(what_is_not_there) {
  desk d = open_desk();
  const int64_t unknown = 77;
  must_refuse(&d, (ws_report_options){.runs = &unknown, .run_count = 1},
              "the.db: there is no run 77; the archive has 2");
  must_refuse(&d, (ws_report_options){.layout = "mnmajor"},
              "no run has the layout 'mnmajor'");
  must_refuse(&d, (ws_report_options){.provenance = "hip"},
              "no times of provenance 'hip'; there are: sim:gfx942");
  ws_run_row other = {.problem = d.tmpl->problem,
                      .layout = "mnmajor",
                      .target = d.tmpl->target,
                      .strategy = "local",
                      .shape_set = "contest",
                      .settings_json = "{}"};
  int64_t both[2] = {d.runs[0]};
  MUST(ws_archive_begin_run(d.archive, &other, &both[1], diag));
  must_refuse(&d, (ws_report_options){.runs = both, .run_count = 2},
              "of different tasks");
  cJSON *data = data_of(d.archive, (ws_report_options){.layout = NULL});
  check_json(data, "task/layout", "\"mnmajor\"");
  WS_CHECK_INT(cJSON_GetArraySize(at(data, "hidden_runs")), 2);
  close_desk(&d, data);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith report`: what an archive holds, as one HTML page or as JSON.
 */
#include "tools.h"
#include "wavesmith/report.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RUNS = 256 };

typedef struct report_arguments {
  ws_report_options options;
  int64_t runs[MAX_RUNS];
  const char *out;
  bool json, help;
} report_arguments;

static ws_status read_run(const ws_option *option, const char *value, void *out,
                          ws_diag *diag) {
  report_arguments *arguments = out;
  char *end;
  long long run = strtoll(value, &end, 10);
  (void)option;
  if (end == value || *end || run < 1)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--run '%s' is not a run's number",
                   value);
  if (arguments->options.run_count == MAX_RUNS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--run is given more than %d times",
                   MAX_RUNS);
  arguments->runs[arguments->options.run_count++] = run;
  return WS_OK;
}

#define AT(member) .offset = offsetof(report_arguments, member)
static const ws_option rows[] = {
    TOOL_PROBLEM_ROW,
    {"out", "FILE", "the page", WS_OPTION_TEXT, AT(out)},
    {"json", NULL, "its data instead, on stdout", WS_OPTION_FLAG, AT(json)},
    {"run", "N",
     "only this run; may be given again (default: all of the latest run's "
     "problem, layout and target)",
     WS_OPTION_READ, .read = read_run},
    {"layout", "L", "only runs of this layout", WS_OPTION_TEXT,
     AT(options.layout)},
    {"provenance", "P",
     "only times of this origin; the beginning is enough: hip, sim, estimate",
     WS_OPTION_TEXT, AT(options.provenance),
     .choices = "hip cuda sim estimate"},
    WS_OPTIONS_END};

const ws_command report_command = {
    .program = "wavesmith report",
    .purpose = "one HTML page of what an archive holds",
    .usage = "ARCHIVE --out FILE.html [OPTION ...]\n"
             "ARCHIVE --json [OPTION ...]",
    .about =
        "Writes one self-contained page that opens without a network: "
        "progress,\n"
        "lineage, grid, speed-up by shape, verdicts, cost, hot lines, claims "
        "of\n"
        "models against outcomes, confirmations, findings, the best "
        "candidates.",
    .options = rows};

static ws_status read_arguments(int argc, char **argv, report_arguments *out,
                                ws_diag *diag) {
  ws_words words;
  *out = (report_arguments){.out = NULL};
  out->options.runs = out->runs;
  WS_TRY(ws_options_parse(&report_command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (out->help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(
        diag, WS_USAGE, NULL, 0,
        "wanted is one archive; `wavesmith report --help` shows more");
  if (!out->out == !out->json)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is either --out FILE.html or --json");
  out->options.archive_name = words.items[0];
  return WS_OK;
}

static ws_status write_page(const cJSON *data, const char *path,
                            ws_diag *diag) {
  ws_strbuf page;
  ws_strbuf_init(&page);
  ws_report_page(data, &page);
  ws_status status = ws_file_write_atomic(path, page.data, page.size, diag);
  if (status == WS_OK)
    printf("wrote %s (%.1f MB%s)\n", path, (double)page.size / 1e6,
           ws_report_has_charts() ? "" : ", tables in place of charts");
  ws_strbuf_deinit(&page);
  return status;
}

static void print_json(const cJSON *data) {
  char *text = cJSON_PrintUnformatted(data);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
}

static ws_status run_report(const report_arguments *arguments, ws_diag *diag) {
  ws_archive *archive;
  cJSON *data = NULL;
  WS_TRY(
      ws_archive_open(arguments->options.archive_name, false, &archive, diag));
  ws_status status = ws_report_data(archive, &arguments->options, &data, diag);
  ws_archive_close(archive);
  if (status == WS_OK && arguments->json)
    print_json(data);
  else if (status == WS_OK)
    status = write_page(data, arguments->out, diag);
  cJSON_Delete(data);
  return status;
}

int tool_report(int argc, char **argv) {
  ws_diag diag = {""};
  report_arguments arguments;
  ws_status status = read_arguments(argc, argv, &arguments, &diag);
  if (status == WS_OK && arguments.help)
    return tool_help(&report_command);
  if (status == WS_OK)
    status = run_report(&arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("report", status, &diag);
}

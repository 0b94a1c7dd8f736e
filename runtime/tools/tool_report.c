/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith report`: what an archive holds, as one HTML page or as JSON.
 */
#include "tools.h"
#include "wavesmith/report.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith report ARCHIVE --out FILE.html [OPTION ...]\n"
    "       wavesmith report ARCHIVE --json [OPTION ...]\n\n"
    "Writes one self-contained page that opens without a network: progress,\n"
    "lineage, grid, speed-up by shape, verdicts, cost, hot lines, claims of\n"
    "models against outcomes, confirmations, findings, the best candidates.\n\n"
    "  --out FILE       the page\n"
    "  --json           its data instead, on stdout\n"
    "  --run N          only this run; may be given again (default: all of "
    "the\n"
    "                   latest run's problem, layout and target)\n"
    "  --layout L       only runs of this layout\n"
    "  --provenance P   only times of this origin; the beginning is enough:\n"
    "                   hip, sim, estimate\n";

enum { MAX_RUNS = 256 };

typedef struct report_arguments {
  ws_report_options options;
  int64_t runs[MAX_RUNS];
  const char *out;
  bool json, help;
} report_arguments;

static ws_status add_run(report_arguments *out, ws_diag *diag) {
  char *end;
  long long run = strtoll(optarg, &end, 10);
  if (end == optarg || *end || run < 1)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--run '%s' is not a run's number",
                   optarg);
  if (out->options.run_count == MAX_RUNS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--run is given more than %d times",
                   MAX_RUNS);
  out->runs[out->options.run_count++] = run;
  return WS_OK;
}

static ws_status read_option(int option, report_arguments *out, ws_diag *diag) {
  switch (option) {
  case 'r':
    return add_run(out, diag);
  case 'l':
    out->options.layout = optarg;
    return WS_OK;
  case 'p':
    out->options.provenance = optarg;
    return WS_OK;
  case 'o':
    out->out = optarg;
    return WS_OK;
  case 'j':
    out->json = true;
    return WS_OK;
  case 'h':
    out->help = true;
    return WS_OK;
  default:
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "an option is unknown or lacks its value; `wavesmith report "
                   "--help` lists the options");
  }
}

static ws_status read_arguments(int argc, char **argv, report_arguments *out,
                                ws_diag *diag) {
  static const struct option table[] = {
      {"run", required_argument, NULL, 'r'},
      {"layout", required_argument, NULL, 'l'},
      {"provenance", required_argument, NULL, 'p'},
      {"out", required_argument, NULL, 'o'},
      {"json", no_argument, NULL, 'j'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0}};
  *out = (report_arguments){.out = NULL};
  out->options.runs = out->runs;
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0)
    WS_TRY(read_option(option, out, diag));
  if (out->help)
    return WS_OK;
  if (argc - optind != 1)
    return ws_fail(
        diag, WS_USAGE, NULL, 0,
        "wanted is one archive; `wavesmith report --help` shows more");
  if (!out->out == !out->json)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is either --out FILE.html or --json");
  out->options.archive_name = argv[optind];
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
  if (status == WS_OK && arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (status == WS_OK)
    status = run_report(&arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("report", status, &diag);
}

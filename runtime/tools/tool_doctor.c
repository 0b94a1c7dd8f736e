/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith doctor`: what is installed, which versions, what is missing, how
 * to get it. One table of components; each has a probe that finds a version or
 * says why not. Asks the compile server for LLVM and comgr, because this
 * program links neither.
 */
#include "tools.h"
#include "wavesmith/archive.h"
#include "wavesmith/build.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What one probe found. */
struct finding {
  bool present;
  char detail[1100]; /* version, or why it is missing */
};

struct doctor {
  ws_arena *arena;
  bool server_runs;
  cJSON *versions; /* of the compile server; NULL when it does not run */
  ws_diag server_diag;
};

static void probe_server(struct doctor *doctor, const char *key,
                         struct finding *out) {
  (void)key;
  out->present = doctor->server_runs;
  snprintf(out->detail, sizeof out->detail, "%s",
           doctor->server_runs ? "runs" : doctor->server_diag.text);
}

static void probe_version(struct doctor *doctor, const char *key,
                          struct finding *out) {
  const cJSON *item =
      doctor->versions ? cJSON_GetObjectItemCaseSensitive(doctor->versions, key)
                       : NULL;
  out->present = cJSON_IsString(item);
  snprintf(out->detail, sizeof out->detail, "%s",
           out->present       ? item->valuestring
           : doctor->versions ? "not found"
                              : "unknown: the compile server does not run");
}

/* Asks the device server: only there may a device be opened. */
static bool describe_device(const char *kind, char *text, size_t size) {
  ws_device_client *client;
  ws_diag diag = {""};
  if (ws_device_client_start(kind, &client, &diag) != WS_OK) {
    snprintf(text, size, "%s", diag.text);
    return false;
  }
  const ws_device_info *info = ws_device_client_info(client);
  bool driver = info->driver && info->driver[0];
  snprintf(text, size, "%s, %s, %d CUs%s%s (%s); times are %s", info->name,
           info->arch, info->cu_count, driver ? ", driver " : "",
           driver ? info->driver : "", info->library, info->provenance);
  ws_device_client_stop(client);
  return true;
}

static void probe_simulator(struct doctor *doctor, const char *kind,
                            struct finding *out) {
  (void)doctor;
  out->present = describe_device(kind, out->detail, sizeof out->detail);
}

/* The first card in full, the others by number. */
static void probe_cards(struct doctor *doctor, const char *kind,
                        struct finding *out) {
  enum { MAX_CARDS = 16 };
  char text[sizeof out->detail];
  int count = 1;
  out->present = describe_device(kind, out->detail, sizeof out->detail);
  if (!out->present)
    return;
  while (count < MAX_CARDS &&
         describe_device(ws_arena_printf(doctor->arena, "%s:%d", kind, count),
                         text, sizeof text))
    count++;
  size_t length = strlen(out->detail);
  if (count > 1)
    snprintf(out->detail + length, sizeof out->detail - length,
             "; %d cards, to %s:%d", count, kind, count - 1);
}

static void probe_templates(struct doctor *doctor, const char *key,
                            struct finding *out) {
  static const char *const places[] = {"/../share/wavesmith/ir-templates",
                                       "/../../../ir-templates"};
  (void)key;
  char *program = NULL;
  ws_diag diag = {{0}};
  out->present = false;
  if (ws_program_directory(doctor->arena, &program, &diag) != WS_OK) {
    snprintf(out->detail, sizeof out->detail, "%s", diag.text);
    return;
  }
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    const char *path =
        ws_arena_printf(doctor->arena, "%s%s", program, places[i]);
    if (access(path, R_OK) == 0) {
      out->present = true;
      snprintf(out->detail, sizeof out->detail, "%s", path);
      return;
    }
  }
  snprintf(out->detail, sizeof out->detail,
           "not beside the program; name them by path");
}

static const struct component {
  const char *name;
  bool required;
  void (*probe)(struct doctor *doctor, const char *key, struct finding *out);
  const char *key; /* of the versions, or a kind of device */
  const char *cure;
} components[] = {
    {"compile server", true, probe_server, NULL,
     "build all targets, or set WAVESMITH_COMPILER to wavesmith-compiler"},
    {"LLVM", true, probe_version, "llvm",
     "./setup.sh (Debian: llvm-21-dev from testing), or ROCm 7's llvm"},
    {"comgr", true, probe_version, "comgr",
     "./setup.sh (Debian: libamd-comgr-dev from testing), or ROCm 7"},
    {"MLIR", false, probe_version, "mlir",
     "needed for templates and bodies in MLIR only. Debian: libmlir-21-dev from "
     "testing (./setup.sh --for test), then build anew"},
    {"ptxas", false, probe_version, "ptxas",
     "only makes code for NVIDIA load faster and checks it here; else the "
     "driver compiles it. From CUDA's toolkit; set WAVESMITH_PTXAS"},
    {"simulator", false, probe_simulator, "sim",
     "build all targets, or set WAVESMITH_SIM_LIBRARY to an emulator with "
     "HIP's ABI"},
    {"AMD card", false, probe_cards, "hip",
     "needed for measured times only. Debian: libamdhip64-6 from testing, or "
     "ROCm; set WAVESMITH_HIP_LIBRARY"},
    {"NVIDIA card", false, probe_cards, "cuda",
     "needed for measured times only. NVIDIA's driver; set "
     "WAVESMITH_CUDA_LIBRARY. Or measure elsewhere (docs/device.md)"},
    {"templates", false, probe_templates, NULL,
     "cmake --install, or name the path"},
};

static void examine(struct doctor *doctor) {
  ws_compiler *compiler = NULL;
  char *json = NULL;
  doctor->server_runs =
      ws_compiler_start(&compiler, &doctor->server_diag) == WS_OK &&
      ws_compiler_versions(compiler, doctor->arena, &json,
                           &doctor->server_diag) == WS_OK;
  if (doctor->server_runs)
    doctor->versions = cJSON_Parse(json);
  ws_compiler_stop(compiler);
}

/* Prints one component; returns whether a required one is missing. */
static bool report(struct doctor *doctor, const struct component *component,
                   cJSON *json) {
  struct finding finding = {0};
  component->probe(doctor, component->key, &finding);
  if (json) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", component->name);
    cJSON_AddBoolToObject(item, "present", finding.present);
    cJSON_AddBoolToObject(item, "required", component->required);
    cJSON_AddStringToObject(item, "detail", finding.detail);
    if (!finding.present)
      cJSON_AddStringToObject(item, "cure", component->cure);
    cJSON_AddItemToArray(json, item);
  } else {
    printf("%-8s %-15s %s\n",
           finding.present       ? "ok"
           : component->required ? "MISSING"
                                 : "absent",
           component->name, finding.detail);
    if (!finding.present)
      printf("%-8s %-15s -> %s\n", "", "", component->cure);
  }
  return component->required && !finding.present;
}

struct doctor_options {
  bool json;
};

static const ws_option rows[] = {
    {"json", NULL, "the result as JSON on stdout", WS_OPTION_FLAG,
     .offset = offsetof(struct doctor_options, json)},
    WS_OPTIONS_END};

const ws_command doctor_command = {
    .program = "wavesmith doctor",
    .purpose = "what is installed, what is missing, how to get it",
    .usage = "[--json]",
    .about = "Says what is installed, what is missing and how to get it.",
    .options = rows,
    .after = "Exit 0 when all that is required is there, else 3."};

int tool_doctor(int argc, char **argv) {
  struct doctor_options options = {.json = false};
  ws_words words;
  ws_diag diag;
  ws_status status =
      ws_options_parse(&doctor_command, argc, argv, &options, &words, &diag);
  if (status != WS_OK)
    return tool_fail("doctor", status, &diag);
  if (words.help)
    return tool_help(&doctor_command);
  struct doctor doctor = {.arena = ws_arena_create()};
  examine(&doctor);
  cJSON *json = options.json ? cJSON_CreateArray() : NULL;
  bool missing = false;
  for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
    missing |= report(&doctor, &components[i], json);
  if (json) {
    char *text = cJSON_Print(json);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
  }
  cJSON_Delete(doctor.versions);
  ws_arena_destroy(doctor.arena);
  return missing ? ws_status_exit_code(WS_ENVIRONMENT) : 0;
}

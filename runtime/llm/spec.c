/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The spec of a member: PROVIDER[:PLACE][;OPTION ...]. Two tables say what each
 * provider takes: the form of its place, and which options mean anything to
 * it. Messages show a spec up to its first ';', and only its provider where the
 * place could hold a password, so that no secret that someone put there by
 * mistake is repeated.
 */
#include "spec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which options a provider takes. */
enum { TAKES_WEIGHT = 1, TAKES_PRICE = 2, TAKES_HTTP = 4 };
enum { TAKES_ALL = TAKES_WEIGHT | TAKES_PRICE | TAKES_HTTP };

/* What follows the provider's colon. */
typedef enum place { PLACE_NONE, PLACE_PATH, PLACE_MODEL, PLACE_URL } place;

static const struct form {
  const char *provider, *shown;
  place place;
  int takes;
} forms[] = {
    {"openai", "openai:BASE_URL#MODEL", PLACE_URL, TAKES_ALL},
    {"anthropic", "anthropic:[BASE_URL]#MODEL", PLACE_MODEL, TAKES_ALL},
    {"gemini", "gemini:[BASE_URL]#MODEL", PLACE_MODEL, TAKES_ALL},
    {"exchange", "exchange:DIR", PLACE_PATH, TAKES_WEIGHT | TAKES_PRICE},
    {"replay", "replay:FILE", PLACE_PATH, 0},
    {"replay-any", "replay-any:FILE", PLACE_PATH, 0},
    {"builtin", "builtin", PLACE_NONE, TAKES_WEIGHT},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* A spec being read: what it is called in messages, and where it goes. */
typedef struct reading {
  ws_arena *arena;
  const char *shown;
  ws__spec *spec;
  ws_diag *diag;
} reading;

#define FAIL(reading, ...)                                                     \
  ws_fail((reading)->diag, WS_USAGE, (reading)->shown, 0, __VA_ARGS__)

/* ---- options ---- */
/* A finite number in [low, high] that ends at *end. */
static bool read_number(const char *text, double low, double high, char end,
                        double *out, const char **out_rest) {
  char *rest;
  *out = strtod(text, &rest);
  *out_rest = rest;
  return rest != text && *rest == end && isfinite(*out) && *out >= low &&
         *out <= high;
}

static ws_status set_weight(reading *r, const char *value) {
  const char *rest;
  if (!read_number(value, 1e-6, 1e6, '\0', &r->spec->weight, &rest))
    return FAIL(r, "weight= must be a number from 1e-6 to 1e6");
  return WS_OK;
}

static ws_status set_price(reading *r, const char *value) {
  const char *rest;
  if (!read_number(value, 0, 1e6, '/', &r->spec->usd_in, &rest) ||
      !read_number(rest + 1, 0, 1e6, '\0', &r->spec->usd_out, &rest))
    return FAIL(r, "price= must be IN/OUT, USD per million tokens of prompt "
                   "and reply, such as price=3/15");
  return WS_OK;
}

static bool is_variable_name(const char *text) {
  size_t size =
      strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                   "0123456789_");
  return size > 0 && !text[size] && !(*text >= '0' && *text <= '9');
}

/* The value is not shown: someone may have put the key itself there. */
static ws_status set_key(reading *r, const char *value) {
  if (!is_variable_name(value))
    return FAIL(r, "key= must be the name of an environment variable; a key "
                   "itself is never given here");
  r->spec->key_variable = value;
  return WS_OK;
}

static ws_status set_key_file(reading *r, const char *value) {
  if (!*value)
    return FAIL(r, "key-file= lacks its path");
  r->spec->key_file = value;
  return WS_OK;
}

static ws_status set_stream(reading *r, const char *value) {
  (void)value;
  r->spec->stream = true;
  return WS_OK;
}

static ws_status set_max_reply_tokens(reading *r, const char *value) {
  char *end;
  errno = 0;
  long long tokens = strtoll(value, &end, 10);
  if (end == value || *end || errno || tokens < 1 || tokens > 10000000)
    return FAIL(r, "max-reply-tokens= must be an integer from 1 to 10000000");
  r->spec->max_reply_tokens = tokens;
  return WS_OK;
}

static ws_status set_temperature(reading *r, const char *value) {
  const char *rest;
  if (!read_number(value, 0, 2, '\0', &r->spec->temperature, &rest))
    return FAIL(r, "temperature= must be a number from 0 to 2");
  return WS_OK;
}

static const struct spec_option {
  const char *name;
  ws_status (*set)(reading *r, const char *value);
  int needs; /* that the provider takes it */
  bool has_value;
} spec_options[] = {
    {"weight", set_weight, TAKES_WEIGHT, true},
    {"price", set_price, TAKES_PRICE, true},
    {"key", set_key, TAKES_HTTP, true},
    {"key-file", set_key_file, TAKES_HTTP, true},
    {"stream", set_stream, TAKES_HTTP, false},
    {"max-reply-tokens", set_max_reply_tokens, TAKES_HTTP, true},
    {"temperature", set_temperature, TAKES_HTTP, true},
};
enum { SPEC_OPTIONS = sizeof spec_options / sizeof spec_options[0] };

static const char *list_options(ws_arena *arena, int takes) {
  const char *list = "";
  for (int i = 0; i < SPEC_OPTIONS; i++)
    if (takes & spec_options[i].needs)
      list = ws_arena_printf(arena, "%s%s%s%s", list, *list ? ", " : "",
                             spec_options[i].name,
                             spec_options[i].has_value ? "=" : "");
  return *list ? list : "none";
}

/* name ends where its value begins. Only a name that looks like one is shown.
 */
static ws_status unknown_option(reading *r, const char *name, int takes) {
  size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz-");
  bool shown = !name[size] && size > 0 && size <= 24;
  return FAIL(r, "unknown option%s%s%s; this provider takes: %s",
              shown ? " '" : "", shown ? name : "", shown ? "'" : "",
              list_options(r->arena, takes));
}

static ws_status read_option(reading *r, char *text, int takes,
                             unsigned *given) {
  char *equals = strchr(text, '=');
  if (equals)
    *equals = '\0';
  for (int i = 0; i < SPEC_OPTIONS; i++) {
    const struct spec_option *option = &spec_options[i];
    if (strcmp(option->name, text) || !(takes & option->needs))
      continue;
    if (*given & 1u << i)
      return FAIL(r, "%s is given twice", option->name);
    *given |= 1u << i;
    if (!!equals != option->has_value)
      return FAIL(r, "%s %s", option->name,
                  equals ? "takes no value" : "lacks its value");
    return option->set(r, equals ? equals + 1 : "");
  }
  return unknown_option(r, text, takes);
}

/* options: the text after the first ';', or NULL. */
static ws_status read_options(reading *r, char *options, int takes) {
  unsigned given = 0;
  while (options) {
    char *next = strchr(options, ';');
    if (next)
      *next++ = '\0';
    WS_TRY(read_option(r, options, takes, &given));
    options = next;
  }
  if (r->spec->key_variable && r->spec->key_file)
    return FAIL(r, "key= and key-file= are both given; one must go");
  return WS_OK;
}

/* ---- the place ---- */
static ws_status check_url(reading *r, const char *url) {
  size_t scheme = !strncmp(url, "http://", 7)    ? 7
                  : !strncmp(url, "https://", 8) ? 8
                                                 : 0;
  if (strpbrk(url, "@?"))
    return FAIL(r, "a URL here holds no user name, password or query; keys "
                   "come from key= or key-file=");
  if (!scheme)
    return FAIL(r, "'%s' is no URL; it must begin with http:// or https://",
                url);
  if (!url[scheme] || strpbrk(url, " \t\r\n\"<>\\"))
    return FAIL(r, "'%s' is no URL that can be asked", url);
  return WS_OK;
}

static ws_status read_url(reading *r, const struct form *form, char *text) {
  char *model = strchr(text, '#');
  if (!model || !model[1])
    return FAIL(r, "the model is missing; wanted is %s", form->shown);
  *model++ = '\0';
  r->spec->model = model;
  r->spec->url = text;
  if (!*text && form->place == PLACE_URL)
    return FAIL(r, "the URL is missing; wanted is %s", form->shown);
  return *text ? check_url(r, text) : WS_OK;
}

static ws_status read_place(reading *r, const struct form *form, char *text) {
  switch (form->place) {
  case PLACE_NONE:
    return text ? FAIL(r, "nothing may follow '%s' but options", form->shown)
                : WS_OK;
  case PLACE_PATH:
    if (!text || !*text)
      return FAIL(r, "the path is missing; wanted is %s", form->shown);
    r->spec->path = text;
    return WS_OK;
  case PLACE_MODEL:
  case PLACE_URL:
    break;
  }
  return text ? read_url(r, form, text) : FAIL(r, "wanted is %s", form->shown);
}

/* ---- the whole ---- */
static ws_status unknown_provider(reading *r) {
  const char *list = "";
  for (int i = 0; i < FORMS; i++)
    list = ws_arena_printf(r->arena, "%s%s%s", list, i ? ", " : "",
                           forms[i].shown);
  return FAIL(r, "unknown provider; there are: %s", list);
}

static const struct form *find_form(const char *provider) {
  for (int i = 0; i < FORMS; i++)
    if (!strcmp(forms[i].provider, provider))
      return &forms[i];
  return NULL;
}

/* What messages call a spec: without its place where that could be an URL with
 * a password in it, or a key where a provider was meant. */
static const char *shown_spec(ws_arena *arena, const char *provider,
                              const char *place_text) {
  bool safe =
      place_text && !strpbrk(place_text, "@?") && strlen(place_text) <= 200;
  if (!find_form(provider) && strlen(provider) > 24)
    provider = "...";
  return ws_arena_printf(arena, "model '%s%s%s'", provider,
                         place_text ? ":" : "",
                         safe         ? place_text
                         : place_text ? "..."
                                      : "");
}

ws_status ws__spec_read(ws_arena *arena, const char *text, ws__spec *out_spec,
                        ws_diag *diag) {
  *out_spec = (ws__spec){.provider = "",
                         .url = "",
                         .model = "",
                         .path = "",
                         .weight = 1,
                         .usd_in = -1,
                         .usd_out = -1,
                         .max_reply_tokens = 16384,
                         .temperature = -1};
  char *provider = ws_arena_strdup(arena, text);
  char *options = strchr(provider, ';');
  if (options)
    *options++ = '\0';
  char *place_text = strchr(provider, ':');
  if (place_text)
    *place_text++ = '\0';
  reading r = {arena, shown_spec(arena, provider, place_text), out_spec, diag};
  const struct form *form = find_form(provider);
  if (!form)
    return unknown_provider(&r);
  out_spec->provider = form->provider;
  WS_TRY(read_place(&r, form, place_text));
  return read_options(&r, options, form->takes);
}

char *ws__spec_name(ws_arena *arena, const ws__spec *spec) {
  if (!*spec->model)
    return ws_arena_strdup(arena, spec->provider);
  return ws_arena_printf(arena, "%s:%s", spec->provider, spec->model);
}

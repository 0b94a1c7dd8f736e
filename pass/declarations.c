/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a body may leave out: the declarations of those functions and globals
 * of its template that it names. LLVM declares intrinsics by itself; this does
 * the same for the template, so that a function's text as it stands in the
 * template, or as a model writes it, is a body.
 */
#include "parse.h"
#include "wavesmith/ir_text.h"

#include <ctype.h>
#include <string.h>

typedef struct symbols {
  LLVMModuleRef target;
  ws_arena *arena;
  LLVMValueRef *items; /* of the target; what needs no declaration any more */
  int count;
} symbols;

static int count_symbols(LLVMModuleRef module) {
  int count = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    count++;
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
    count++;
  return count;
}

/* The template's symbol of that name; NULL: none, or not a plain name. */
static LLVMValueRef find_symbol(const symbols *s, const ws_ir_token *token) {
  char name[256];
  const char *begin;
  size_t size;
  if (!ws_ir_symbol_name(token, &begin, &size) || !size || size >= sizeof name)
    return NULL;
  for (size_t i = 0; i < size; i++)
    if (!isalnum((unsigned char)begin[i]) && !strchr("-$._", begin[i]))
      return NULL;
  memcpy(name, begin, size);
  name[size] = '\0';
  LLVMValueRef function = LLVMGetNamedFunction(s->target, name);
  return function ? function : LLVMGetNamedGlobal(s->target, name);
}

/* false: it is one of them already. */
static bool add_symbol(symbols *s, LLVMValueRef symbol) {
  for (int i = 0; i < s->count; i++)
    if (s->items[i] == symbol)
      return false;
  s->items[s->count++] = symbol;
  return true;
}

/* What the text defines or declares by itself: the first name behind `define`
 * or `declare`, and `@name =`. */
static void find_declared(symbols *s, const char *text) {
  ws_ir_token t, next;
  bool expected = false;
  while (ws_ir_skip_balanced(&text, &t)) {
    const char *behind = text;
    bool global = *t.begin == '@' && ws_ir_next_token(&behind, &next) &&
                  *next.begin == '=';
    LLVMValueRef symbol = expected || global ? find_symbol(s, &t) : NULL;
    if (symbol)
      add_symbol(s, symbol);
    if (ws_ir_is_word(&t, "define") || ws_ir_is_word(&t, "declare"))
      expected = true;
    else if (*t.begin == '@')
      expected = false;
  }
}

static void put_type(ws_strbuf *out, LLVMTypeRef type) {
  char *text = LLVMPrintTypeToString(type);
  ws_strbuf_puts(out, text);
  LLVMDisposeMessage(text);
}

static void put_function(const symbols *s, ws_strbuf *out,
                         LLVMValueRef function) {
  size_t size;
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  unsigned count = LLVMCountParamTypes(type);
  LLVMTypeRef *parameters =
      ws_arena_alloc(s->arena, count * sizeof *parameters);
  LLVMGetParamTypes(type, parameters);
  ws_strbuf_printf(out, "declare cc %u ", LLVMGetFunctionCallConv(function));
  put_type(out, LLVMGetReturnType(type));
  ws_strbuf_printf(out, " @%s(", LLVMGetValueName2(function, &size));
  for (unsigned i = 0; i < count; i++) {
    ws_strbuf_puts(out, i ? ", " : "");
    put_type(out, parameters[i]);
  }
  ws_strbuf_puts(out, ") ");
}

static void put_global(ws_strbuf *out, LLVMValueRef global) {
  size_t size;
  ws_strbuf_printf(out, "@%s = external addrspace(%u) %s ",
                   LLVMGetValueName2(global, &size),
                   LLVMGetPointerAddressSpace(LLVMTypeOf(global)),
                   LLVMIsGlobalConstant(global) ? "constant" : "global");
  put_type(out, LLVMGlobalGetValueType(global));
  ws_strbuf_puts(out, " ");
}

/* LLVM prints these with their definition, which a declaration cannot hold. */
static bool has_named_type(LLVMValueRef symbol) {
  char *text = LLVMPrintTypeToString(LLVMGlobalGetValueType(symbol));
  bool named = strchr(text, '%') != NULL;
  LLVMDisposeMessage(text);
  return named;
}

static void declare(symbols *s, ws_strbuf *out, LLVMValueRef symbol) {
  size_t size;
  if (!strncmp(LLVMGetValueName2(symbol, &size), "llvm.", 5) ||
      !add_symbol(s, symbol) || has_named_type(symbol))
    return;
  if (LLVMIsAFunction(symbol))
    put_function(s, out, symbol);
  else
    put_global(out, symbol);
}

const char *ws__pass_declarations(LLVMModuleRef target, const char *text,
                                  ws_arena *arena) {
  symbols s = {.target = target, .arena = arena};
  s.items = ws_arena_alloc(arena, (size_t)(count_symbols(target) + 1) *
                                      sizeof *s.items);
  ws_strbuf out;
  ws_strbuf_init(&out);
  find_declared(&s, text);
  for (ws_ir_token t; ws_ir_next_token(&text, &t);) {
    LLVMValueRef symbol = find_symbol(&s, &t);
    if (symbol)
      declare(&s, &out, symbol);
  }
  char *declarations = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return declarations;
}

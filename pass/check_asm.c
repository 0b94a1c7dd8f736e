/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The static check of inline assembly. On NVIDIA most of what makes sm_90a fast
 * has no intrinsic (mbarriers, wgmma, stmatrix), so PTX is let in by an allow
 * list of instructions: no clocks, no traps, no way out of the text. LLVM does
 * not read the text, so this does, statement by statement:
 *
 *   { } .reg ...;   LABEL:   @[!]PREDICATE MNEMONIC OPERANDS;
 *
 * Global memory is reached through operands that are pointers in IR, directly:
 * "[$3]" or "[$3+16]". So what check_flow.c knows of a pointer holds here too.
 */
#include "check.h"
#include "template_ir.h"

#include <ctype.h>
#include <string.h>

#define REPORT ws__check_report

enum memory {
  NO_GLOBAL,   /* registers, shared memory, hints */
  READS_FIRST, /* global memory, through its first [address] */
  READS_SECOND,
  WRITES_FIRST
};

/* Allowed instructions: the name, or the name and more behind a dot. The
 * longest that fits counts. PTX ISA 8.3, instruction set. */
static const struct instruction {
  const char *name;
  enum memory memory;
} instructions[] = {
    {"abs", NO_GLOBAL},
    {"add", NO_GLOBAL},
    {"and", NO_GLOBAL},
    {"atom.global", WRITES_FIRST},
    {"atom.shared", NO_GLOBAL},
    {"bar", NO_GLOBAL},
    {"barrier", NO_GLOBAL},
    {"bfe", NO_GLOBAL},
    {"bfi", NO_GLOBAL},
    {"bra", NO_GLOBAL},
    {"cp.async.bulk.commit_group", NO_GLOBAL},
    {"cp.async.bulk.global", WRITES_FIRST},
    {"cp.async.bulk.prefetch", READS_FIRST},
    {"cp.async.bulk.prefetch.tensor", READS_FIRST},
    {"cp.async.bulk.shared::cluster.global", READS_SECOND},
    {"cp.async.bulk.shared::cluster.shared::cta", NO_GLOBAL},
    {"cp.async.bulk.tensor.1d.global", WRITES_FIRST},
    {"cp.async.bulk.tensor.1d.shared::cluster.global", READS_SECOND},
    {"cp.async.bulk.tensor.2d.global", WRITES_FIRST},
    {"cp.async.bulk.tensor.2d.shared::cluster.global", READS_SECOND},
    {"cp.async.bulk.wait_group", NO_GLOBAL},
    {"cp.async.ca.shared.global", READS_SECOND},
    {"cp.async.ca.shared::cta.global", READS_SECOND},
    {"cp.async.cg.shared.global", READS_SECOND},
    {"cp.async.cg.shared::cta.global", READS_SECOND},
    {"cp.async.commit_group", NO_GLOBAL},
    {"cp.async.mbarrier.arrive", NO_GLOBAL},
    {"cp.async.wait_all", NO_GLOBAL},
    {"cp.async.wait_group", NO_GLOBAL},
    {"cp.reduce.async.bulk.global", WRITES_FIRST},
    {"cp.reduce.async.bulk.tensor.1d.global", WRITES_FIRST},
    {"cp.reduce.async.bulk.tensor.2d.global", WRITES_FIRST},
    {"createpolicy.fractional", NO_GLOBAL},
    {"cvt", NO_GLOBAL},
    {"elect", NO_GLOBAL},
    {"ex2.approx", NO_GLOBAL},
    {"fence", NO_GLOBAL},
    {"fma", NO_GLOBAL},
    {"griddepcontrol", NO_GLOBAL},
    {"ld.acquire.gpu.global", READS_FIRST},
    {"ld.global", READS_FIRST},
    {"ld.relaxed.gpu.global", READS_FIRST},
    {"ld.shared", NO_GLOBAL},
    {"ldmatrix", NO_GLOBAL},
    {"lop3", NO_GLOBAL},
    {"mad", NO_GLOBAL},
    {"mapa.shared::cluster", NO_GLOBAL},
    {"max", NO_GLOBAL},
    {"mbarrier", NO_GLOBAL},
    {"min", NO_GLOBAL},
    {"mma.sync", NO_GLOBAL},
    {"mov", NO_GLOBAL},
    {"mul", NO_GLOBAL},
    {"neg", NO_GLOBAL},
    {"not", NO_GLOBAL},
    {"or", NO_GLOBAL},
    {"prefetch.global", READS_FIRST},
    {"prefetch.tensormap", READS_FIRST},
    {"prmt", NO_GLOBAL},
    {"rcp.approx", NO_GLOBAL},
    {"red.async", NO_GLOBAL},
    {"red.global", WRITES_FIRST},
    {"red.release.gpu.global", WRITES_FIRST},
    {"red.shared", NO_GLOBAL},
    {"selp", NO_GLOBAL},
    {"setmaxnreg", NO_GLOBAL},
    {"setp", NO_GLOBAL},
    {"shf", NO_GLOBAL},
    {"shfl.sync", NO_GLOBAL},
    {"shl", NO_GLOBAL},
    {"shr", NO_GLOBAL},
    {"st.async", NO_GLOBAL},
    {"st.global", WRITES_FIRST},
    {"st.release.gpu.global", WRITES_FIRST},
    {"st.shared", NO_GLOBAL},
    {"stmatrix", NO_GLOBAL},
    {"sub", NO_GLOBAL},
    {"vote.sync", NO_GLOBAL},
    {"wgmma", NO_GLOBAL},
    {"xor", NO_GLOBAL},
};

/* Special registers that say where a thread is, and nothing of when. */
static const char *const places[] = {
    "%tid.",      "%ntid.",          "%ctaid.",          "%nctaid.",
    "%laneid",    "%cluster_ctaid.", "%cluster_ctarank", "%cluster_nctarank",
    "%clusterid."};

/* ---- statements ---------------------------------------------------------- */

/* [begin, end) without the blanks around. */
typedef struct span {
  const char *begin, *end;
} span;

static size_t size_of(span s) { return (size_t)(s.end - s.begin); }

static bool is_blank(char c) { return isspace((unsigned char)c); }

static bool in_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static span trim(const char *begin, const char *end) {
  while (begin < end && is_blank(*begin))
    begin++;
  while (end > begin && is_blank(end[-1]))
    end--;
  return (span){begin, end};
}

/* The next statement, label (with its colon) or brace of *text; empty at the
 * end. A brace opens a block where a statement may begin only, otherwise it
 * belongs to a list of registers. */
static span next_statement(const char **text) {
  const char *begin = *text;
  while (*begin && (is_blank(*begin) || *begin == ';'))
    begin++;
  const char *end = begin;
  if (*begin == '{' || *begin == '}') {
    end++;
  } else {
    while (*end && *end != ';' &&
           !(*end == ':' && end[1] != ':' && (end == begin || end[-1] != ':')))
      end++;
    end += *end == ':';
  }
  *text = end;
  return trim(begin, end);
}

static span first_word(span s) {
  const char *end = s.begin;
  while (end < s.end && !is_blank(*end))
    end++;
  return (span){s.begin, end};
}

/* Without "@p" or "@!p" in front. */
static span skip_predicate(span s) {
  if (s.begin == s.end || *s.begin != '@')
    return s;
  const char *at = s.begin + 1;
  at += at < s.end && *at == '!';
  while (at < s.end && in_name(*at))
    at++;
  return trim(at, s.end);
}

static const struct instruction *find_instruction(span mnemonic) {
  const struct instruction *best = NULL;
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
    size_t size = strlen(instructions[i].name);
    if (size <= size_of(mnemonic) &&
        !memcmp(instructions[i].name, mnemonic.begin, size) &&
        (size == size_of(mnemonic) || mnemonic.begin[size] == '.') &&
        (!best || size > strlen(best->name)))
      best = &instructions[i];
  }
  return best;
}

/* ---- operands ------------------------------------------------------------ */

/* "$12" in the text is the 12th of outputs and inputs together. */
static int count_outputs(LLVMValueRef assembly) {
  size_t size;
  const char *text = LLVMGetInlineAsmConstraintString(assembly, &size);
  const char *end = text + size;
  int count = 0;
  while (text < end) {
    const char *stop = memchr(text, ',', (size_t)(end - text));
    count += *text == '=';
    text = stop ? stop + 1 : end;
  }
  return count;
}

/* The place of the n-th '[' of the operands; NULL: there is none. */
static const char *find_address(span operands, int n) {
  for (const char *at = operands.begin; at < operands.end; at++)
    if (*at == '[' && n-- == 0)
      return at;
  return NULL;
}

/* The call's operand that an address "[$3" or "[$3+16" names; -1: another
 * form. */
static int read_address(span operands, const char *at, int outputs) {
  const char *c = at + 1;
  int number = 0;
  while (c < operands.end && is_blank(*c))
    c++;
  if (c == operands.end || *c++ != '$' || !isdigit((unsigned char)*c))
    return -1;
  for (; c < operands.end && isdigit((unsigned char)*c) && number < 1000; c++)
    number = number * 10 + (*c - '0');
  while (c < operands.end && is_blank(*c))
    c++;
  bool ends = c < operands.end && strchr("],+-", *c);
  return ends && number >= outputs ? number - outputs : -1;
}

/* The operand of the call through which a statement reaches global memory; -1:
 * it does so in another way. */
static int global_operand(LLVMValueRef call, span operands,
                          enum memory memory) {
  int outputs = count_outputs(LLVMGetCalledValue(call));
  const char *at = find_address(operands, memory == READS_SECOND);
  int operand = at ? read_address(operands, at, outputs) : -1;
  if (operand >= (int)LLVMGetNumArgOperands(call))
    return -1;
  LLVMTypeRef type =
      operand >= 0 ? LLVMTypeOf(LLVMGetOperand(call, (unsigned)operand)) : NULL;
  return type && ws__points_outside(type) ? operand : -1;
}

/* ---- the check ----------------------------------------------------------- */

static bool defines_label(const char *text, span name) {
  for (span s; size_of(s = next_statement(&text));)
    if (s.end[-1] == ':' && size_of(s) == size_of(name) + 1 &&
        !memcmp(s.begin, name.begin, size_of(name)))
      return true;
  return false;
}

/* A '%' begins a special register, or a name of the text's own, which would
 * hide one. */
static bool names_special(span s) {
  for (const char *at = s.begin; at < s.end; at++) {
    bool place = false;
    if (*at != '%')
      continue;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
      place |= !strncmp(at, places[i], strlen(places[i]));
    if (!place)
      return true;
  }
  return false;
}

static const char *fault_of(LLVMValueRef call, const char *text, span s) {
  span body = skip_predicate(s), mnemonic = first_word(body);
  span operands = trim(mnemonic.end, body.end);
  if (names_special(s))
    return "names a register that is not the text's";
  if (*s.begin == '{' || *s.begin == '}' || s.end[-1] == ':')
    return NULL;
  if (*s.begin == '.')
    return size_of(mnemonic) == 4 && !memcmp(mnemonic.begin, ".reg", 4)
               ? NULL
               : "is a directive other than .reg";
  const struct instruction *known = find_instruction(mnemonic);
  if (!known)
    return "is not on the list";
  if (!strcmp(known->name, "bra") && !defines_label(text, operands))
    return "branches out of the text";
  if (known->memory != NO_GLOBAL &&
      global_operand(call, operands, known->memory) < 0)
    return "reaches global memory through something else than [$N] with a "
           "pointer as operand N";
  return NULL;
}

static void check_ptx(const ws_checker *checker, LLVMValueRef call,
                      const char *text) {
  if (strstr(text, "//") || strstr(text, "/*")) {
    REPORT(checker, WS_CHECK_ASM, call, "a comment in inline assembly");
    return;
  }
  const char *at = text;
  for (span s; size_of(s = next_statement(&at));) {
    const char *fault = fault_of(call, text, s);
    if (fault)
      REPORT(checker, WS_CHECK_ASM, call, "inline assembly: \"%.*s\" %s",
             (int)(size_of(s) < 80 ? size_of(s) : 80), s.begin, fault);
  }
}

static const char *text_of(ws_arena *arena, LLVMValueRef call) {
  size_t size;
  const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &size);
  return ws_arena_strndup(arena, text, size);
}

void ws__check_asm(const ws_checker *checker, LLVMValueRef call) {
  const char *text = text_of(checker->findings->arena, call);
  bool nvptx = checker->family->family == WS_FAMILY_NVPTX;
  bool empty = !*text;
  if (nvptx)
    check_ptx(checker, call, text);
  else if (!empty || LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    REPORT(checker, WS_CHECK_ASM, call, "inline assembly");
}

uint32_t ws__asm_written(const ws_checker *checker, LLVMValueRef call) {
  const char *text = text_of(checker->findings->arena, call);
  uint32_t written = 0;
  for (span s; size_of(s = next_statement(&text));) {
    span body = skip_predicate(s), mnemonic = first_word(body);
    const struct instruction *known = find_instruction(mnemonic);
    if (!known || known->memory != WRITES_FIRST)
      continue;
    int operand =
        global_operand(call, trim(mnemonic.end, body.end), WRITES_FIRST);
    if (operand >= 0 && operand < 32)
      written |= 1u << operand;
  }
  return written;
}

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
  NO_GLOBAL,    /* registers, shared memory, hints */
  READS_FIRST,  /* global memory, through its first [address] */
  READS_SECOND, /* through its second */
  WRITES_FIRST,
  SENDS_FIRST, /* the same by a tensor map */
  LOADS,       /* global or shared memory, as one of its parts says */
  STORES
};

/* Allowed instructions: the name, or the name and more behind a dot. The
 * longest that fits counts. PTX ISA 8.4, instruction set. */
static const struct instruction {
  const char *name;
  enum memory memory;
} instructions[] = {
    {"abs", NO_GLOBAL},
    {"add", NO_GLOBAL},
    {"and", NO_GLOBAL},
    {"atom", STORES},
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
    {"cp.async.bulk.tensor.1d.global", SENDS_FIRST},
    {"cp.async.bulk.tensor.1d.shared::cluster.global", READS_SECOND},
    {"cp.async.bulk.tensor.2d.global", SENDS_FIRST},
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
    {"cp.reduce.async.bulk.tensor.1d.global", SENDS_FIRST},
    {"cp.reduce.async.bulk.tensor.2d.global", SENDS_FIRST},
    {"createpolicy.fractional", NO_GLOBAL},
    {"cvt", NO_GLOBAL},
    {"cvta.shared", NO_GLOBAL},
    {"cvta.to.shared", NO_GLOBAL},
    {"elect", NO_GLOBAL},
    {"ex2.approx", NO_GLOBAL},
    {"fence", NO_GLOBAL},
    {"fma", NO_GLOBAL},
    {"griddepcontrol", NO_GLOBAL},
    {"ld", LOADS},
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
    {"red", STORES},
    {"selp", NO_GLOBAL},
    {"setmaxnreg", NO_GLOBAL},
    {"setp", NO_GLOBAL},
    {"shf", NO_GLOBAL},
    {"shfl.sync", NO_GLOBAL},
    {"shl", NO_GLOBAL},
    {"shr", NO_GLOBAL},
    {"st", STORES},
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

static bool has_part(span mnemonic, const char *part) {
  return memmem(mnemonic.begin, size_of(mnemonic), part, strlen(part)) != NULL;
}

/* What an instruction of the list does to global memory. */
static enum memory memory_of(const struct instruction *known, span mnemonic) {
  bool by_part = known->memory == LOADS || known->memory == STORES;
  if (!by_part)
    return known->memory;
  if (has_part(mnemonic, ".shared"))
    return NO_GLOBAL;
  return known->memory == LOADS ? READS_FIRST : WRITES_FIRST;
}

/* Loads, stores and atomics name their memory and reach no further than this
 * GPU. */
static bool is_well_formed(const struct instruction *known, span mnemonic) {
  static const char *const refused[] = {".sys", ".volatile", ".mmio"};
  if (known->memory != LOADS && known->memory != STORES)
    return true;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (has_part(mnemonic, refused[i]))
      return false;
  return has_part(mnemonic, ".shared") || has_part(mnemonic, ".global");
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

/* The call's operand that "$3" at `at` names; -1: none, or a result. *out_end
 * is behind it. */
static int read_operand(LLVMValueRef call, const char *at, const char *end,
                        const char **out_end) {
  int outputs = count_outputs(LLVMGetCalledValue(call)), number = 0;
  const char *c = at + 1;
  bool named = at < end && *at == '$' && c < end && isdigit((unsigned char)*c);
  for (; c < end && isdigit((unsigned char)*c) && number < 10000; c++)
    number = number * 10 + (*c - '0');
  *out_end = c;
  number -= outputs;
  return named && number >= 0 && number < (int)LLVMGetNumArgOperands(call)
             ? number
             : -1;
}

static bool is_global_pointer(LLVMValueRef call, int operand) {
  return operand >= 0 && ws__points_outside(LLVMTypeOf(
                             LLVMGetOperand(call, (unsigned)operand)));
}

/* Where "$3" of "[$3]" or "[$3+16]" stands, the address of a statement in
 * global memory, and the operand that it names; NULL: it has another form. */
static const char *global_address(LLVMValueRef call, span operands,
                                  enum memory memory, int *out_operand) {
  const char *at = find_address(operands, memory == READS_SECOND), *end;
  if (!at)
    return NULL;
  for (at++; at < operands.end && is_blank(*at);)
    at++;
  *out_operand = read_operand(call, at, operands.end, &end);
  while (end < operands.end && is_blank(*end))
    end++;
  bool ends = end < operands.end && strchr("],+-", *end);
  return ends && is_global_pointer(call, *out_operand) ? at : NULL;
}

/* Whether a pointer stands in another place than that of the address: there it
 * is a number. */
static bool uses_pointer(LLVMValueRef call, span operands,
                         const char *address) {
  for (const char *at = operands.begin, *end; at < operands.end; at++)
    if (*at == '$' && at != address &&
        is_global_pointer(call, read_operand(call, at, operands.end, &end)))
      return true;
  return false;
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

/* "${3:x}" and "$(a$|b$)" are other forms of operands and text; "$$" is a
 * dollar sign. */
static bool has_other_form(span s) {
  for (const char *at = s.begin; at < s.end; at++) {
    if (*at != '$')
      continue;
    if (at + 1 == s.end || (at[1] != '$' && !isdigit((unsigned char)at[1])))
      return true;
    at += at[1] == '$';
  }
  return false;
}

/* What is wrong with an instruction; NULL: nothing. */
static const char *instruction_fault(LLVMValueRef call, const char *text,
                                     span body) {
  span mnemonic = first_word(body), operands = trim(mnemonic.end, body.end);
  const struct instruction *known = find_instruction(mnemonic);
  if (!known)
    return "is not on the list";
  if (!is_well_formed(known, mnemonic))
    return "must name .global or .shared, and neither .sys nor .volatile";
  if (!strcmp(known->name, "bra") && !defines_label(text, operands))
    return "branches out of the text";
  enum memory memory = memory_of(known, mnemonic);
  int operand;
  const char *address = memory == NO_GLOBAL
                            ? NULL
                            : global_address(call, operands, memory, &operand);
  if (memory != NO_GLOBAL && !address)
    return "reaches global memory through something else than [$N] with a "
           "pointer as operand N";
  return uses_pointer(call, operands, address) ? "uses a pointer as a number"
                                               : NULL;
}

static const char *statement_fault(LLVMValueRef call, const char *text,
                                   span s) {
  span word = first_word(s);
  if (names_special(s))
    return "names a register that is not the text's";
  if (has_other_form(s))
    return "names an operand in another form than $N";
  if (*s.begin == '{' || *s.begin == '}' || s.end[-1] == ':')
    return NULL;
  if (*s.begin == '.')
    return size_of(word) == 4 && !memcmp(word.begin, ".reg", 4)
               ? NULL
               : "is a directive other than .reg";
  return instruction_fault(call, text, skip_predicate(s));
}

/* A pointer that comes out of a text was made of numbers. */
static bool returns_pointer(LLVMValueRef call) {
  LLVMTypeRef type = LLVMTypeOf(call);
  bool found = ws__points_outside(type);
  if (LLVMGetTypeKind(type) == LLVMStructTypeKind)
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
      found |= ws__points_outside(LLVMStructGetTypeAtIndex(type, i));
  return found;
}

static void check_ptx(const ws_checker *checker, LLVMValueRef call,
                      const char *text) {
  if (strstr(text, "//") || strstr(text, "/*")) {
    REPORT(checker, WS_CHECK_ASM, call, "a comment in inline assembly");
    return;
  }
  if (returns_pointer(call))
    REPORT(checker, WS_CHECK_INTTOPTR, call,
           "a pointer made by inline assembly");
  const char *at = text;
  for (span s; size_of(s = next_statement(&at));) {
    const char *fault = statement_fault(call, text, s);
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

uint32_t ws__asm_written(const ws_checker *checker, LLVMValueRef call,
                         bool *out_sends) {
  const char *text = text_of(checker->findings->arena, call);
  uint32_t written = 0;
  *out_sends = true;
  for (span s; size_of(s = next_statement(&text));) {
    span body = skip_predicate(s), mnemonic = first_word(body);
    const struct instruction *known = find_instruction(mnemonic);
    enum memory memory = known ? memory_of(known, mnemonic) : NO_GLOBAL;
    if (memory != WRITES_FIRST && memory != SENDS_FIRST)
      continue;
    int operand;
    *out_sends &= memory == SENDS_FIRST;
    if (global_address(call, trim(mnemonic.end, body.end), memory, &operand) &&
        operand < 32)
      written |= 1u << operand;
  }
  return written;
}

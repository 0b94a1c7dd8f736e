/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The one rule of names. Letters are ASCII ones whatever the locale. The words
 * are those of C23 (N3220, 6.4.1) and C++20 ([lex.key], [lex.digraph]) that are
 * not reserved by their form, and macros of the headers that emitted C includes
 * and of gcc and clang on Linux.
 */
#include "wavesmith/text.h"

#include <string.h>

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* With a blank before and after each word. */
static const char words[] =
    " alignas alignof auto bool break case char const constexpr continue"
    " default do double else enum extern false float for goto if inline int"
    " long nullptr register restrict return short signed sizeof static"
    " static_assert struct switch thread_local true typedef typeof"
    " typeof_unqual union unsigned void volatile while asm"
    /* C++ */
    " and and_eq bitand bitor catch char8_t char16_t char32_t class compl"
    " concept consteval constinit const_cast co_await co_return co_yield"
    " decltype delete dynamic_cast explicit export friend mutable namespace"
    " new noexcept not not_eq operator or or_eq private protected public"
    " reinterpret_cast requires static_cast template this throw try typeid"
    " typename using virtual wchar_t xor xor_eq"
    /* macros */
    " linux unix i386 NULL EOF errno stdin stdout stderr assert offsetof"
    " va_start va_arg va_end va_copy va_list FILE ";

static bool is_word(const char *text, size_t size) {
  char padded[WS_NAME_MAX + 3] = " ";
  memcpy(padded + 1, text, size);
  memcpy(padded + 1 + size, " ", 2);
  return strstr(words, padded) != NULL;
}

static const char *fault_of(const char *text, size_t size) {
  if (size == 0)
    return "is empty";
  if (size > WS_NAME_MAX)
    return "is longer than 63 characters";
  for (size_t i = 0; i < size; i++)
    if (!is_letter(text[i]) && !is_digit(text[i]))
      return "has other characters than letters, digits and _";
  if (is_digit(*text))
    return "begins with a digit";
  if (text[0] == '_' &&
      (size > 1 && (text[1] == '_' || (text[1] >= 'A' && text[1] <= 'Z'))))
    return "begins as names that C reserves do";
  return is_word(text, size) ? "is a word of C or C++" : NULL;
}

const char *ws_name_fault(const char *text) {
  return fault_of(text, strlen(text));
}

const char *ws_dotted_name_fault(const char *text) {
  if (strlen(text) > WS_NAME_MAX)
    return "is longer than 63 characters";
  for (;;) {
    size_t size = strcspn(text, "."), digits = 0;
    while (is_digit(text[digits]))
      digits++;
    const char *fault = digits && digits == size ? NULL : fault_of(text, size);
    if (fault || !text[size])
      return fault;
    text += size + 1;
  }
}

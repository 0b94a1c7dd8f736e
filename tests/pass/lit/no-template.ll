; A module of anybody: a default pipeline does not mind the plugin.
; RUN: %opt -S -passes='default<O1>' %s | FileCheck %s
; CHECK: ret i32 3
define i32 @three() {
  %sum = add i32 1, 2
  ret i32 %sum
}

// What every pass refuses, at its place, by MLIR's own diagnostics: mlir-opt ends
// well when each comes where it is expected and no other does.
// RUN: %mlir-opt --pass-pipeline='builtin.module(wavesmith-check{problem="%pairs"})' --split-input-file --verify-diagnostics %s
// RUN: %mlir-opt --pass-pipeline='builtin.module(wavesmith-specialize{problem="%pairs"})' --split-input-file --verify-diagnostics %s
// RUN: %mlir-opt --pass-pipeline='builtin.module(wavesmith-lower-to-llvm{problem="%pairs"})' --split-input-file --verify-diagnostics %s

// No template at all.
// expected-error@+1 {{write module attributes {wavesmith.template = [name, version, problem, target, purpose]}, with a target of gfx942}}
module {
  func.func @f() {
    return
  }
}

// -----

// A target that there is not.
!v = memref<1xf32, #gpu.address_space<global>>
// expected-error@+1 {{with a target of gfx942}}
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx90", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

// No gpu.module.
// expected-error@+1 {{write the kernels in a gpu.module [template]}}
module attributes {wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"]} {
  func.func @f() {
    return
  }
}

// -----

// Attributes of another type than they have.
!v = memref<1xf32, #gpu.address_space<global>>
// expected-error@+1 {{write wavesmith.param = [[name, default, allowed values, meaning], ...], texts [template]}}
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = 3
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
// expected-error@+1 {{write wavesmith.param = }}
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", 64, "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  // expected-error@+1 {{write wavesmith.launch = [grid x, grid y, grid z, threads, condition], texts [template]}}
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = 1} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  // expected-error@+1 {{f: write wavesmith.variant = [region, purpose], texts [template]}}
  func.func private @f() attributes {wavesmith.variant = "combine"} {
    return
  }
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{write wavesmith.value = "EXPRESSION", a text [mlir-value]}}
    %f = arith.constant {wavesmith.value = 3} 1 : i32
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{wavesmith.value: 'arith.constant' has no integer attribute 'value'}}
    %f = arith.constant {wavesmith.value = "threads"} 1.0 : f32
    gpu.return
  }
}
}

// -----

// An expression of a name that is no parameter.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{'lanes' has no value in '2 * lanes' [mlir-value]}}
    %f = arith.constant {wavesmith.value = "2 * lanes"} 1 : i32
    gpu.return
  }
}
}

// -----

// A dialect that is not taken.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{complex.constant: this dialect is not taken; there is affine amdgpu}}
    %c = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
    gpu.return
  }
}
}

// -----

// Workgroup memory of a size that no parameter decides, or of another one than is declared.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "4 * threads"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %i = arith.index_castui %count : i32 to index
    // expected-error@+1 {{is no arith.constant; make it one with wavesmith.value [mlir-dynamic]}}
    %a = memref.alloc(%i) {wavesmith.lds = "tile"} : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "8 * threads"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %i = arith.constant {wavesmith.value = "threads"} 64 : index
    // expected-error@+1 {{has 256 bytes, wavesmith.lds gives 'tile' 512 [mlir-lds]}}
    %a = memref.alloc(%i) {wavesmith.lds = "tile"} : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// Workgroup memory that is not declared: as a global, of a kernel, of the launch, of
// the LLVM dialect.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  // expected-error@+1 {{workgroup memory is memref.alloc() {wavesmith.lds = "NAME"}, a name among those of the module's wavesmith.lds [mlir-lds]}}
  memref.global "private" @tile : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"})
              // expected-error@+1 {{workgroup memory is memref.alloc() {wavesmith.lds = "NAME"}, a name among those of the module's wavesmith.lds [mlir-lds]}}
              workgroup(%w: memref<64xf32, #gpu.address_space<workgroup>>) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{workgroup memory is memref.alloc() {wavesmith.lds = "NAME"}, a name among those of the module's wavesmith.lds [mlir-lds]}}
    %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  // expected-error@+1 {{workgroup memory is memref.alloc() {wavesmith.lds = "NAME"}, a name among those of the module's wavesmith.lds [mlir-lds]}}
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<256 x i8>
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{workgroup memory is memref.alloc() {wavesmith.lds = "NAME"}, a name among those of the module's wavesmith.lds [mlir-lds]}}
    %a = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// Where no kernel is.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
func.func private @f() {
  // expected-error@+1 {{f: workgroup memory is made in functions of the gpu.module [mlir-lds]}}
  %a = memref.alloc() {wavesmith.lds = "tile"} : memref<64xf32, #gpu.address_space<workgroup>>
  return
}
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

// One name twice, of a function, and what is no name.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %a = memref.alloc() {wavesmith.lds = "tile"} : memref<64xf32, #gpu.address_space<workgroup>>
    // expected-error@+1 {{another memref.alloc is 'tile' already: each has a name of its own in wavesmith.lds [mlir-lds]}}
    %b = memref.alloc() {wavesmith.lds = "tile"} : memref<64xf32, 3>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["k", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{'k' is the name of a function; give the memory another in wavesmith.lds [mlir-lds]}}
    %a = memref.alloc() {wavesmith.lds = "k"} : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["a tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{a name of wavesmith.lds is of letters, digits, '_', '.' and '$', and begins with a letter or '_' [mlir-lds]}}
    %a = memref.alloc() {wavesmith.lds = "a tile"} : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// A size below zero, elements whose size is not known, more than a workgroup could have.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %n = arith.constant {wavesmith.value = "-threads"} 64 : index
    // expected-error@+1 {{a size of memref<?xf32, #gpu.address_space<workgroup>> is -64 [mlir-lds]}}
    %a = memref.alloc(%n) {wavesmith.lds = "tile"} : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{how large an element of memref<64xmemref<1xf32>, #gpu.address_space<workgroup>> is, is not known here: write numbers, or vectors of them [mlir-lds]}}
    %a = memref.alloc() {wavesmith.lds = "tile"} : memref<64xmemref<1xf32>, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "256"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    // expected-error@+1 {{has 9223372036854775807 bytes, wavesmith.lds gives 'tile' 256 [mlir-lds]}}
    %a = memref.alloc() {wavesmith.lds = "tile"} : memref<4611686018427387904x4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// A pointer of a kernel whose size the launch would have to give.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(
              // expected-error@+1 {{a kernel's pointer is a memref of static type; memref.reinterpret_cast makes of memref<1xf32, #gpu.address_space<global>> what the launch's sizes say [mlir-dynamic]}}
              %x: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(
              // expected-error@+1 {{a kernel's pointer is a memref of static type}}
              %x: memref<*xf32, #gpu.address_space<global>> {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

// What is of a host, of a linker or of the whole module.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
// expected-error@+1 {{llvm.module_flags: a template has kernels and their functions only; leave it out [mlir-dialect]}}
llvm.module_flags [#llvm.mlir.module_flag<override, "amdhsa_code_object_version", 400 : i32>]
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
// expected-error@+1 {{gpu.binary: a template has kernels and their functions only; leave it out [mlir-dialect]}}
gpu.binary @b [#gpu.object<#rocdl.target, "abc">]
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

// What no pass lowers.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %i = arith.index_castui %count : i32 to index
    %c = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{nothing lowers tensor.empty here: a tensor is left, which nothing has made memory of; write it on memrefs or vectors [mlir-lower]}}
    %e = tensor.empty() : tensor<4xf32>
    %r = tensor.insert %z into %e[%i] : tensor<4xf32>
    %q = tensor.extract %r[%c] : tensor<4xf32>
    memref.store %q, %y[%c] : !v
    gpu.return
  }
}
}

// -----

// A schedule that fails, and one that nothing applies.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  transform.with_named_sequence
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.index_castui %count : i32 to index
    scf.for %i = %c0 to %n step %c1 {
      %z = memref.load %x[%c0] : !v
      memref.store %z, %y[%c0] : !v
    }
    gpu.return
  }
}
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error@+1 {{expected to contain 2 payloads but it contains 1 payloads}}
  %a, %b = transform.split_handle %loops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  transform.with_named_sequence
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
// expected-error@+1 {{no sequence is named @__transform_main: nothing would be applied [mlir-schedule]}}
transform.named_sequence @other(%root: !transform.any_op) {
  transform.yield
}
}

// -----

// A launch of a kernel with an argument that the problem has not.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              // expected-error@+1 {{kernel @k: 'length' is no argument of pairs; name its arguments from: x y count [template]}}
              %count: i32 {wavesmith.name = "length"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
}

// -----

// A schedule without a body.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  transform.with_named_sequence,
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
// expected-error@+1 {{this sequence has no body: write its steps and transform.yield [mlir-schedule]}}
transform.named_sequence private @__transform_main(!transform.any_op {transform.readonly})
}

// -----

// Sequences that include each other, by names in two modules.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  transform.with_named_sequence,
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    gpu.return
  }
}
transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
  transform.include @a failures(propagate) (%m) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @a(%m: !transform.any_op {transform.readonly}) {
  transform.include @lib::@b failures(propagate) (%m) : (!transform.any_op) -> ()
  transform.yield
}
module @lib attributes {transform.with_named_sequence} {
  // expected-error@+1 {{sequences stand in the template's own module, beside @__transform_main [mlir-schedule]}}
  transform.named_sequence @b(%m: !transform.any_op {transform.readonly}) {
    transform.include @a failures(propagate) (%m) : (!transform.any_op) -> ()
    transform.yield
  }
  transform.named_sequence @a(%m: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
}

// -----

// The threads of a launch in parts, and a cast of nothing.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", ["thr", "eads"], "1"]} {
    %width = gpu.block_dim x
    // expected-error@+1 {{a value could not be lowered: it is wanted of no value as f32 [mlir-lower]}}
    %z = builtin.unrealized_conversion_cast to f32
    memref.store %z, %y[%width] : !v
    gpu.return
  }
}
}

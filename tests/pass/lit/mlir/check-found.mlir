// What only the check refuses: it lowers a copy, and its findings come back to
// the operations.
// RUN: %mlir-opt --pass-pipeline='builtin.module(wavesmith-check{problem="%pairs"})' --split-input-file --verify-diagnostics %s
// RUN: %mlir-opt --pass-pipeline='builtin.module(wavesmith-lower-to-llvm{problem="%pairs"})' --split-input-file %s -o /dev/null

// A barrier that some lanes do not reach.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %t = gpu.thread_id x
    %c = arith.constant 3 : index
    %b = arith.cmpi ult, %t, %c : index
    scf.if %b {
      // expected-error-re@+1 {{barrier under the branch of line {{.*}}, whose condition differs between lanes; {{.*}} [check-divergent-barrier]}}
      gpu.barrier
    }
    gpu.return
  }
}
}

// -----

// A store to an input.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0 : index
    // expected-error-re@+1 {{store through a read-only argument; {{.*}} [check-readonly-store]}}
    memref.store %z, %x[%c] : !v
    gpu.return
  }
}
}

// -----

// More LDS than there is: of the kernel.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]],
  wavesmith.lds = [["tile", "4096 * threads"]]
} {
gpu.module @m {
  // expected-error-re@+1 {{kernel @k uses 262144 bytes of LDS, gfx942 has 65536 per workgroup; {{.*}} [check-lds]}}
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !v {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    %i = arith.constant {wavesmith.value = "1024 * threads"} 65536 : index
    %a = memref.alloc(%i) {wavesmith.lds = "tile"} : memref<?xf32, #gpu.address_space<workgroup>>
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0 : index
    memref.store %z, %a[%c] : memref<?xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
}

// -----

// Private memory whose size is no constant.
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
    // expected-error-re@+1 {{an alloca outside the entry block, of variable size, or in another address space; {{.*}} [check-dynamic-alloca]}}
    %a = memref.alloca(%i) : memref<?xf32, #gpu.address_space<private>>
    %c = arith.constant 0 : index
    %z = memref.load %a[%i] : memref<?xf32, #gpu.address_space<private>>
    memref.store %z, %y[%c] : !v
    gpu.return
  }
}
}

// -----

// In a region, two.
!v = memref<1xf32, #gpu.address_space<global>>
module attributes {
  wavesmith.template = ["t", "1", "pairs", "gfx942", "a test"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]]
} {
gpu.module @m {
  func.func private @twice(%p: !llvm.ptr<1>) attributes {wavesmith.region = "stores 1, twice"} {
    %z = arith.constant 1.0 : f32
    // expected-error-re@+1 {{twice: volatile access; {{.*}} [check-volatile]}}
    llvm.store volatile %z, %p : f32, !llvm.ptr<1>
    // expected-error-re@+1 {{twice: volatile access; {{.*}} [check-volatile]}}
    llvm.store volatile %z, %p : f32, !llvm.ptr<1>
    return
  }
  gpu.func @k(%x: !v {wavesmith.name = "x"}, %y: !llvm.ptr<1> {wavesmith.name = "y"},
              %count: i32 {wavesmith.name = "count"}) kernel attributes {
      wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
    func.call @twice(%y) : (!llvm.ptr<1>) -> ()
    gpu.return
  }
}
}

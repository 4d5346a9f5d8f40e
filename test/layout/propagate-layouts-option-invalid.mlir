// RUN: not spyre-opt --spyre-propagate-layouts=sticks=best %s 2>&1 | FileCheck %s
// RUN: not spyre-compile --sticks best %s -o %t 2>&1 | FileCheck %s

// CHECK: error{{.*}}: {{.*}}{{option 'sticks': expected 'global' or 'greedy', found|invalid value}} 'best'
func.func @nothing() {
  return
}

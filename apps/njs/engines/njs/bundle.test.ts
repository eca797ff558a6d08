import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { shrinkFrames } from './bundle.ts'

/** Enough calls to make the function around them large. */
const LARGE = 'noop(1, 2);'.repeat(20)

function run(code: string): unknown {
  const program = `${shrinkFrames(`function noop() {}\n${code}`)}\nJSON.stringify(result)`
  return JSON.parse(String(runInNewContext(program)))
}

test('calls keep their order, their receiver and their value', () => {
  const code = `
    var log = [];
    function note(x) { log.push(x); return x; }
    var object = { base: 10, add: function (a, b, c) { return this.base + a + b + (c || 0); } };
    function large() { ${LARGE}
      var name = 'add', list = [];
      list.push(object.add(note(1), note(2)), object[name](note(3), 4, 5), note(note(6)), typeof note(7));
      return list;
    }
    var result = [large(), log];`
  deepEqual(run(code), [
    [13, 22, 6, 'number'],
    [1, 2, 3, 6, 6, 7],
  ])
})

test('small functions, and functions as arguments, stay as they are', () => {
  ok(!shrinkFrames('function small(a) { var b = a; return noop(b, 1); }').includes('[noop'))
  const code = `function large() { ${LARGE} var x = [1, 2].map(function (y) { return y * 2; }); return x; } var result = large();`
  deepEqual(run(code), [2, 4])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJunit } from '../junit.ts'

test('reads the report of node:test: suites in suites, each test once', () => {
  const outcomes = readJunit(`<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testcase name="alone" time="0.1" classname="test" file="/x/alone.test.ts"/>
  <testsuite name="outer" tests="3" failures="1" skipped="1">
    <testsuite name="inner" tests="1"><testcase name="a &lt;b&gt;" time="0.1"/></testsuite>
    <testcase name="broken" failure="it broke"><failure type="testCodeFailure" message="it broke&#10;at line 1">Error</failure></testcase>
    <testcase name="left out"><skipped type="skipped" message="no NGINX"/></testcase>
  </testsuite>
</testsuites>`)
  assert.deepEqual(outcomes, [
    { name: 'alone', suite: '', file: '/x/alone.test.ts', state: 'passed', reason: '' },
    { name: 'broken', suite: 'outer', state: 'failed', reason: 'it broke' },
    { name: 'left out', suite: 'outer', state: 'skipped', reason: 'no NGINX' },
    { name: 'a <b>', suite: 'inner', state: 'passed', reason: '' },
  ])
})

test('reads the report of bun test', () => {
  const outcomes = readJunit(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="2" failures="1">
  <testsuite name="test/hello.test.ts" tests="2">
    <testcase name="one" classname="" time="0.1" file="test/hello.test.ts" />
    <testcase name="two" classname=""><failure type="AssertionError" /></testcase>
  </testsuite>
</testsuites>`)
  assert.deepEqual(
    outcomes.map(({ name, state }) => [name, state]),
    [
      ['one', 'passed'],
      ['two', 'failed'],
    ],
  )
})

test('node:test reports files like tests: one that failed is marked, one without tests is left out', () => {
  const outcomes = readJunit(`<testsuites>
  <testcase name="test/crash.test.ts" file="/x/test/crash.test.ts"><failure message="test failed"/></testcase>
  <testcase name="test/empty.test.ts" file="/x/test/empty.test.ts"/>
  <testcase name="reads other.test.ts" file="/x/test/some.test.ts"/>
</testsuites>`)
  assert.deepEqual(
    outcomes.map(({ name, state, isFile }) => [name, state, isFile]),
    [
      ['test/crash.test.ts', 'failed', true],
      ['reads other.test.ts', 'passed', undefined],
    ],
  )
})

test('a report without tests has no outcome', () => {
  assert.deepEqual(readJunit('<testsuites></testsuites>'), [])
})

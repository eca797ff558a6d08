import { XMLParser } from 'fast-xml-parser'

/** One test of a JUnit report. */
export interface Outcome {
  name: string
  /** The innermost suite around it; empty where there is none. */
  suite: string
  /** Flaky: it failed beside other tests, and passed alone. */
  state: 'passed' | 'flaky' | 'failed' | 'skipped'
  /** Why it was skipped, or how it failed, in one line. */
  reason: string
  /** Where it is, if the report says so. node:test gives an absolute path. */
  file?: string
  /** A whole file that failed: it crashed, or ended with another exit code than 0. */
  isFile?: true
}

const parser = new XMLParser({
  ignoreAttributes: false,
  htmlEntities: true, // `&#10;` in messages
  attributeNamePrefix: '',
  isArray: (name) => name === 'testcase' || name === 'testsuite',
})

interface Node {
  name?: unknown
  file?: unknown
  message?: unknown
  testsuites?: Node
  testsuite?: Node[]
  testcase?: Node[]
  skipped?: Node | string
  failure?: Node | string
  error?: Node | string
}

/**
 * The tests of a report as node:test and bun test write it: suites in suites, whose sums are not counted again. node:test reports a file
 * without tests like a test that passed: it is left out.
 */
export function readJunit(xml: string): Outcome[] {
  const outcomes = readSuite((parser.parse(xml) as Node).testsuites ?? {})
  return outcomes.filter(({ isFile, state }) => !isFile || state === 'failed')
}

/** Instead of the tests of a package whose command wrote no report. */
export function missingReport(name: string): Outcome {
  return { name, suite: '', state: 'failed', reason: 'Its tests wrote no report: .junit.xml is not there.' }
}

function readSuite({ name = '', testcase = [], testsuite = [] }: Node): Outcome[] {
  return [...testcase.map((node) => readCase(node, String(name))), ...testsuite.flatMap(readSuite)]
}

function readCase(node: Node, suite: string): Outcome {
  const { skipped, failure = node.error, file } = node
  const name = String(node.name)
  const isFile = file !== undefined && name.endsWith('.test.ts') && String(file).endsWith(name)
  const test = {
    name,
    suite,
    ...(file !== undefined && { file: String(file) }),
    ...(isFile && { isFile }),
  }
  if (failure !== undefined) return { ...test, state: 'failed', reason: readMessage(failure) }
  if (skipped !== undefined) return { ...test, state: 'skipped', reason: readMessage(skipped) }
  return { ...test, state: 'passed', reason: '' }
}

function readMessage(node: Node | string): string {
  const message = typeof node === 'string' ? node : String(node.message ?? '')
  return message.trim().split('\n', 1)[0]?.slice(0, 200) ?? ''
}

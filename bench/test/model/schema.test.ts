import { deepEqual, match, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CAPABILITIES } from '@startgrid/conformance'
import { Compile } from 'typebox/schema'
import { NAMED_PARTS, RESULTS_BY_KIND } from '../../src/model/result.ts'
import { validateResult } from '../../src/model/result-file.ts'
import { golden, NAMES } from '../fixtures/golden.ts'

const FILE = `${import.meta.dirname}/../../result.schema.json`

interface Described {
  description?: string
  anyOf?: Described[]
  items?: Described
  properties?: Record<string, Described>
}

/** Parts that stand in several places are written once. */
const NAMED = new Map(Object.entries(NAMED_PARTS).map(([name, part]) => [fieldsOf(part), name]))

/** Of an object its fields, which it has in common with others of that part. */
function fieldsOf(part: unknown): unknown {
  return (part as Described | null)?.properties ?? part
}

function written(schema: unknown): unknown {
  const refer = (key: string, value: unknown): unknown => {
    // The fields of a part are not the part.
    const name = key === '' || key === 'properties' ? undefined : NAMED.get(fieldsOf(value))
    if (name === undefined) return value
    const { description } = value as Described
    return { $ref: `#/$defs/${name}`, description }
  }
  return JSON.parse(JSON.stringify(schema, refer))
}

/** What fits into a line stands in one. */
function inLines(schema: unknown): string {
  const text = `${JSON.stringify(schema, null, 2)}\n`
  const shorten = (part: string) => part.replace(/\s*\n\s*/g, ' ')
  return text.replace(/[{[]\n[^{}[\]]*[}\]]/g, (part) => (shorten(part).length < 100 ? shorten(part) : part))
}

/** `node --test --test-update-snapshots bench/test/model` writes it again. */
test('result.schema.json is what the code checks results against', (context) => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A result of startgrid',
    description: 'A run of `pnpm bench`, of one of its commands or of a study, as it is stored.',
    oneOf: Object.values(RESULTS_BY_KIND).map(written),
    $defs: Object.fromEntries(Object.entries(NAMED_PARTS).map(([name, part]) => [name, written(part)])),
  }
  context.assert.fileSnapshot(schema, FILE, { serializers: [inLines] })
})

test('another program can check stored results by it', () => {
  const foreign = Compile(JSON.parse(readFileSync(FILE, 'utf8')))
  for (const result of NAMES.map((name) => golden(name))) {
    ok(foreign.Check(result), result.kind)
    ok(!foreign.Check({ ...result, surplus: 1 }) && !foreign.Check({ ...result, seed: 'x' }), result.kind)
  }
})

test('every field has a description', () => {
  for (const [kind, schema] of Object.entries(RESULTS_BY_KIND)) check(schema as Described, kind)
  function check({ properties = {}, items, anyOf = [] }: Described, path: string): void {
    for (const [name, field] of Object.entries(properties)) {
      const described = [field, field.items ?? {}, ...(field.anyOf ?? [])]
      const hasParts = described.some(({ properties: own }) => own !== undefined)
      const isKind = name === 'kind'
      ok(isKind || hasParts || (field.description ?? '').length > 5, `${path}.${name} has a description`)
      check(field, `${path}.${name}`)
    }
    for (const one of [items, ...anyOf]) if (one !== undefined) check(one, path)
  }
})

test('results of all kinds fit; a field too many, one too few and another version do not', () => {
  for (const result of NAMES.map((name) => golden(name))) {
    deepEqual(validateResult(result), [])
    match(validateResult({ ...result, surplus: 1 })[0] ?? '', /surplus/)
    const { seed: _, ...without } = result
    match(validateResult(without)[0] ?? '', /seed/)
    match(
      validateResult({ ...result, cells: [{ ...result.cells[0], connections: '64' }] })[0] ?? '',
      /connections/,
    )
    match(validateResult({ ...result, schema: 4 })[0] ?? '', /^its schema is 4, here it is 5$/)
  }
  const absent = [...CAPABILITIES]
  deepEqual(
    validateResult({ ...golden('target'), target: { origin: 'http://10.0.0.9:3000', absent } }),
    [],
    '--without',
  )
  match(validateResult({ ...golden('target'), kind: 'other' })[0] ?? '', /no kind "other"/)
  match(validateResult(null)[0] ?? '', /schema/)
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { validateResult } from '../../src/model/result-file.ts'
import { WARNING_KINDS } from '../../src/model/warnings.ts'
import { emptyResults } from '../fixtures/empty-results.ts'
import { fullOpenLoops, fullResult } from '../fixtures/full-result.ts'

/**
 * The type `Result` and result.schema.json agree: the compiler holds the extremes to the type, and these tests hold the schema
 * to the extremes. So each says neither more nor less than the other.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Path = readonly (string | number)[]

interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  oneOf?: Schema[]
  const?: Json
  type?: string | string[]
  description?: string
  required?: string[]
  enum?: Json[]
  additionalProperties?: false | Schema
  unevaluatedProperties?: false
  properties?: Record<string, Schema>
  items?: Schema
}

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../result.schema.json', import.meta.url), 'utf8'),
) as Schema
/** Compiled once: `validateResult` compiles for every result. */
const isValid = new Ajv2020({ strictTypes: false }).compile(SCHEMA)
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json
const FULL = [fullResult(), ...fullOpenLoops()].map(asJson)
const EMPTY = emptyResults().map(asJson)

/** Objects whose keys are data: versions by package, errors by kind. */
const OPEN = ['packages', 'errors']

test('the extremes are valid', () => {
  for (const extreme of [...FULL, ...EMPTY]) assert.deepEqual(validateResult(extreme), [])
})

test('the schema has the fields of the type, all required and described', () => {
  for (const full of FULL) compareFields(SCHEMA, full, [])
})

function compareFields(given: Schema, value: Json, path: Path): void {
  const at = path.join('.') || 'the root'
  assert.ok((given.description ?? '').length > 5, `${at} has a description`)
  const schema = resolve(given, value)
  if (schema.items && Array.isArray(value)) {
    for (const [index, item] of value.entries()) compareFields(schema.items, item, [...path, index])
  }
  if (schema.properties === undefined) return
  assert.ok(isObject(value), `${at} is an object`)
  const fields = value as Record<string, Json>
  const isRoot = path.length === 0
  const inOrder = (names: readonly string[] = []) => (isRoot ? names.toSorted() : names)
  const names = inOrder(Object.keys(fields))
  assert.deepEqual(inOrder(Object.keys(schema.properties)), names, `the fields of ${at}`)
  if (!OPEN.includes(String(path.at(-1))))
    assert.deepEqual(inOrder(schema.required), names, `the required fields of ${at}`)
  assert.equal(isRoot ? schema.unevaluatedProperties : schema.additionalProperties, false, at)
  for (const [key, field] of Object.entries(schema.properties))
    compareFields(field, fields[key] ?? null, [...path, key])
}

/** What a reference stands for, and a choice: between one and null, or between kinds of warnings. */
function resolve({ $ref, oneOf, ...schema }: Schema, value?: Json): Schema {
  if ($ref !== undefined) {
    const found = SCHEMA.$defs?.[$ref.replace('#/$defs/', '')]
    assert.ok(found, $ref)
    return resolve(found, value)
  }
  const kind = kindOf(value) ?? null
  const isOfKind = ({ properties }: Schema) =>
    properties?.kind?.const === kind || (properties?.kind?.enum?.includes(kind) ?? false)
  const chosen = oneOf?.find(isOfKind) ?? oneOf?.[0]
  if (chosen === undefined) return schema
  const own = resolve(chosen, value)
  if (schema.properties === undefined) return own
  // What all kinds have, and what this one has besides.
  return {
    ...schema,
    properties: { ...own.properties, ...schema.properties },
    required: [...(schema.required ?? []), ...(own.required ?? [])],
  }
}

function kindOf(value: Json | undefined): Json | undefined {
  return isObject(value) ? (value as Record<string, Json>).kind : undefined
}

test('the schema knows every kind of warning, in the order of the enumeration', () => {
  const kinds = SCHEMA.$defs?.warning?.oneOf?.map(({ properties }) => properties?.kind?.const)
  assert.deepEqual(kinds, WARNING_KINDS)
})

/** Every field of each is changed in turn: a short run does that to two kinds of results. */
const places = sample('fields of results', FULL, 2).map((full) => ({
  full,
  paths: [...walk(full)].filter((path) => path.length > 0),
}))

/** What the description of a number must say, by what its field is called. */
const UNITS: readonly [name: RegExp, unit: RegExp][] = [
  [/Ms$|^(p50|p90|p99|p999|max|ms)$/, /millisecond/i],
  [/^(recoveryS|s)econds$|Latency$/, /second/i],
  [/memory/i, /bytes/],
  [/^(coreUse|launchSpread|goodputShare|precision|halfWidth|.*Wait|.*Foreign)$/, /part/i],
  [/^(achieved|offered|ceiling|closedLoop)$/, /per second/],
]

test('fields with a unit name it', () => {
  const seen = new Set<RegExp>()
  for (const [path, { description = '' }] of FULL.flatMap((full) => [
    ...numbersOf(resolve(SCHEMA, full), []),
  ])) {
    const found = UNITS.find(([name]) => name.test(String(path.findLast((key) => typeof key === 'string'))))
    if (found === undefined) continue
    seen.add(found[0])
    assert.match(description, found[1], path.join('.'))
  }
  assert.equal(seen.size, UNITS.length, 'every rule is of use')
})

function* numbersOf(given: Schema, path: Path): Generator<[Path, Schema]> {
  const schema = resolve(given)
  const types = [schema.type ?? []].flat()
  if (types.includes('number') || types.includes('integer')) yield [path, given]
  if (schema.items) yield* numbersOf(schema.items, [...path, 0])
  for (const [key, field] of Object.entries(schema.properties ?? {})) yield* numbersOf(field, [...path, key])
}

test('no field may be missing', () => {
  for (const { full, paths } of places) {
    const fields = paths.filter(
      (path) => typeof path.at(-1) === 'string' && !OPEN.includes(String(path.at(-2))),
    )
    assert.ok(fields.length > 150, `${fields.length}`)
    for (const path of fields) assert.equal(isValid(without(full, path)), false, `without ${path.join('.')}`)
  }
})

test('no field may be added', () => {
  for (const { full, paths } of places) {
    const objects = [[], ...paths].filter((path) => isObject(get(full, path)))
    assert.ok(objects.length > 30, `${objects.length}`)
    // Of an overload errors of all kinds are a finding.
    const isOverload = kindOf(full) === 'overload'
    const closed = objects.filter(
      (path) =>
        path.at(-1) !== 'packages' && !(isOverload && path[0] === 'analysis' && path.at(-1) === 'errors'),
    )
    for (const path of closed)
      assert.equal(isValid(withValue(full, [...path, 'surplus'], 1)), false, path.join('.'))
  }
})

test('no field may have another type', () => {
  for (const { full, paths } of places)
    for (const path of paths) {
      const wrong = typeof get(full, path) === 'string' ? 5 : 'text'
      assert.equal(isValid(withValue(full, path, wrong)), false, `${path.join('.')} as ${wrong}`)
    }
})

test('null may stand where the type says so, and nowhere else', () => {
  for (const { full, paths } of places) {
    const empty = EMPTY.filter((extreme) => kindOf(extreme) === kindOf(full))
    const nullable = (path: Path) => empty.some((extreme) => get(extreme, path) === null)
    // What all kinds have is null in one of them at least.
    const anywhere = (path: Path) => path[0] !== 'analysis' && EMPTY.some((one) => get(one, path) === null)
    assert.ok(paths.filter(nullable).length > 20)
    for (const path of paths)
      assert.equal(isValid(withValue(full, path, null)), nullable(path) || anywhere(path), path.join('.'))
  }
})

function* walk(value: Json, path: Path = []): Generator<Path> {
  yield path
  if (value === null || typeof value !== 'object') return
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, inner] of entries) yield* walk(inner, [...path, key])
}

function get(value: Json, path: Path): Json | undefined {
  let found: Json | undefined = value
  for (const key of path) {
    if (found === null || typeof found !== 'object') return undefined
    found = (found as Record<string | number, Json>)[key]
  }
  return found
}

function withValue(full: Json, path: Path, value: Json): Json {
  return changed(full, path, (parent, key) => {
    parent[key] = value
  })
}

function without(full: Json, path: Path): Json {
  return changed(full, path, (parent, key) => {
    delete parent[key]
  })
}

/** Copies what is on the path alone: a copy of the whole for each of its thousands of fields takes seconds. */
function changed(
  value: Json,
  [key = '', ...rest]: Path,
  change: (parent: Record<string | number, Json>, key: string | number) => void,
): Json {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, Json>
  if (rest.length === 0) change(copy, key)
  else copy[key] = changed(copy[key] ?? null, rest, change)
  return copy as Json
}

function isObject(value: Json | undefined): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

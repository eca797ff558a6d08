import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { validateResult } from '../src/results.ts'
import { emptiestResult, fullResult, nextEmptiestResult } from './fixture.ts'

/**
 * The type `Result` and result.schema.json agree: the compiler holds the examples to the type, and these tests hold the schema
 * to the examples. So each says neither more nor less than the other.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Path = readonly (string | number)[]

interface Schema {
  type?: string | string[]
  const?: unknown
  description?: string
  required?: string[]
  additionalProperties?: false | Schema
  properties?: Record<string, Schema>
  items?: Schema
}

const SCHEMA = JSON.parse(readFileSync(new URL('../result.schema.json', import.meta.url), 'utf8')) as Schema
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

test('the examples are valid', () => {
  for (const example of [fullResult(), emptiestResult(), nextEmptiestResult()])
    assert.deepEqual(validateResult(asJson(example)), [])
})

test('the schema has the fields of the type, all required and described', () => {
  compareFields(SCHEMA, asJson(fullResult()), [])
})

function compareFields(schema: Schema, value: Json, path: Path): void {
  const at = path.join('.') || 'the root'
  assert.ok((schema.description ?? '').length > 10, `${at} has a description`)
  if (schema.items && Array.isArray(value)) compareFields(schema.items, value[0] ?? null, [...path, 0])
  if (schema.properties === undefined) return
  assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value), `${at} is an object`)
  assert.deepEqual(Object.keys(schema.properties), Object.keys(value), `the fields of ${at}`)
  assert.deepEqual(schema.required, Object.keys(value), `the required fields of ${at}`)
  assert.equal(schema.additionalProperties, false, at)
  for (const [key, field] of Object.entries(schema.properties))
    compareFields(field, value[key] ?? null, [...path, key])
}

const places = [...walk(asJson(fullResult()))].filter((path) => path.length > 0)

test('no field may be missing', () => {
  const fields = places.filter((path) => typeof path.at(-1) === 'string' && !path.includes('packages'))
  assert.ok(fields.length > 80)
  for (const path of fields)
    assert.notDeepEqual(validateResult(without(path)), [], `without ${path.join('.')}`)
})

test('no field may be added', () => {
  const objects = [[], ...places].filter((path) => isObject(get(asJson(fullResult()), path)))
  assert.ok(objects.length > 10)
  for (const path of objects.filter((place) => place.at(-1) !== 'packages'))
    assert.notDeepEqual(validateResult(withValue([...path, 'surplus'], 1)), [], path.join('.'))
})

test('no field may have another type', () => {
  for (const path of places) {
    const wrong = typeof get(asJson(fullResult()), path) === 'string' ? 5 : 'text'
    assert.notDeepEqual(validateResult(withValue(path, wrong)), [], `${path.join('.')} as ${wrong}`)
  }
})

test('null may stand where the type says so, and nowhere else', () => {
  const empty = [emptiestResult(), nextEmptiestResult()].map(asJson)
  const nullable = (path: Path) => empty.some((example) => get(example, path) === null)
  assert.ok(places.filter(nullable).length > 15)
  for (const path of places)
    assert.equal(validateResult(withValue(path, null)).length === 0, nullable(path), path.join('.'))
})

test('what other programs rely on is required', () => {
  for (const field of ['app', 'topology', 'rate', 'errors', 'voided'])
    assert.ok(SCHEMA.properties?.cells?.items?.required?.includes(field), field)
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

function withValue(path: Path, value: Json): Json {
  const result = asJson(fullResult())
  const parent = get(result, path.slice(0, -1)) as Record<string | number, Json>
  parent[path.at(-1) ?? ''] = value
  return result
}

function without(path: Path): Json {
  const result = asJson(fullResult())
  const parent = get(result, path.slice(0, -1)) as Record<string | number, Json>
  delete parent[path.at(-1) ?? '']
  return result
}

function isObject(value: Json | undefined): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

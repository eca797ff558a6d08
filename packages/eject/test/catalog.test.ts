import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { listTypes, readCatalog, resolveVersions } from '../src/catalog.ts'

const CATALOG = {
  pino: '10.4.0',
  '@koa/send': '6.0.0',
  '@biomejs/biome': '2.6.8',
  '@types/koa__send': '1.0.0',
}

test('versions become ranges, sorted by name; the linter stays exact', () => {
  const versions = resolveVersions(['pino', '@koa/send', '@biomejs/biome', 'pino'], CATALOG)
  deepEqual(Object.entries(versions), [
    ['@biomejs/biome', '2.6.8'],
    ['@koa/send', '^6.0.0'],
    ['pino', '^10.4.0'],
  ])
})

test('packages without types of their own get them', () => {
  deepEqual(listTypes(['pino', '@koa/send'], CATALOG), ['@types/koa__send'])
})

test('a package that is not in the catalog is an error', () => {
  throws(() => resolveVersions(['left-pad'], CATALOG), { message: /^left-pad is not in the catalog/ })
})

test('the catalog of the workspace is read', async () => {
  const catalog = await readCatalog()
  equal(/^\d+\.\d+\.\d+$/.test(catalog.fastify ?? ''), true)
})

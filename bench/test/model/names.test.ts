import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf } from '../../src/model/names.ts'
import { cellOf } from '../fixtures/small-race.ts'

test('names say engine and twin', () => {
  assert.equal(nameOf(cellOf('koa')), 'koa')
  assert.equal(nameOf(cellOf('njs', { engine: 'qjs in NGINX 1.30.3' })), 'njs (qjs)')
  assert.equal(nameOf(cellOf('node', { app: 'node/hello#2', title: 'node#2' })), 'node#2')
})

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import * as built from '#shared/page/server.js'
import type * as bun from '../../src/page/dev/bun.ts'
import type * as node from '../../src/page/dev/node.ts'
import type * as source from '../../src/page/entry-server.tsx'
import type * as declared from '../../src/page/server.d.ts'

test('server.d.ts declares what entry-server.tsx and its replacements in development export', () => {
  // The type check compares the types in both directions; at run time only the names are left.
  const toDeclared = (module: typeof source | typeof node | typeof bun): typeof declared => module
  const toSource = (module: typeof declared): typeof source => module
  deepEqual(Object.keys(toSource(toDeclared(built))).sort(), [
    'ASSETS',
    'ASSETS_DIR',
    'pageElement',
    'renderPage',
  ])
})

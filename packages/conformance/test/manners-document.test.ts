import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatManners, mergeManners } from '../src/contract/manners-document.ts'

const EXPRESS = { options: ['200'], allow: ['GET, HEAD'] }
const FASTIFY = { options: ['404'], allow: ['GET, HEAD'] }

test('the apps of one framework are merged, in the order of the catalogue', () => {
  const merged = mergeManners([{ allow: ['GET, HEAD'], options: ['405'] }, { options: ['204'] }])
  assert.deepEqual(Object.entries(merged), [
    ['options', ['204', '405']],
    ['allow', ['GET, HEAD']],
  ])
})

test('the document has what differs, and what does not', () => {
  const text = formatManners(
    new Map([
      ['Express', EXPRESS],
      ['Fastify', FASTIFY],
    ]),
  )
  const [, different = '', same = ''] = text.split('\n## ')
  assert.match(different, /^\| `OPTIONS` on a known path +\| 200 +\| 404 +\|$/m)
  assert.doesNotMatch(different, /Allow/)
  assert.match(same, /^\| `Allow` in a 405, or in the response to `OPTIONS` +\| GET, HEAD +\|$/m)
  assert.match(same, /\| – +\|/)
})

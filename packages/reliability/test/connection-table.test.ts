import { equal, match } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { droppedPackets, smallTable } from '../src/subject/connection-table.ts'

const root = mkdtempSync(join(tmpdir(), 'startgrid-table-'))
after(() => rmSync(root, { recursive: true }))

test('without a table nothing is dropped, and nothing has to be done', () => {
  equal(droppedPackets(root), 0)
  equal(smallTable(root), undefined)
})

test('what was dropped is summed over the CPUs', () => {
  mkdirSync(join(root, 'proc/net/stat'), { recursive: true })
  const rows = [
    'entries  clashres insert_failed drop early_drop',
    '0001 0000 0000 000a 0007',
    '0001 0000 0000 0010 0000',
  ]
  writeFileSync(join(root, 'proc/net/stat/nf_conntrack'), `${rows.join('\n')}\n`)
  equal(droppedPackets(root), 26)
})

test('a small table is told, with what to do', () => {
  mkdirSync(join(root, 'proc/sys/net/netfilter'), { recursive: true })
  const file = join(root, 'proc/sys/net/netfilter/nf_conntrack_max')
  writeFileSync(file, '262144\n')
  match(
    smallTable(root) ?? '',
    /has 262144 places .+ sysctl -w net\.netfilter\.nf_conntrack_max=1000000 makes room\.$/,
  )
  writeFileSync(file, '1000000\n')
  equal(smallTable(root), undefined)
})

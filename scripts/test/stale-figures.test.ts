import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { commitsIn, findStaleFigures } from '../stale-figures.ts'

const page = (text: string) => [{ page: 'docs/results/README.md', text, command: 'pnpm bench --docs' }]

test('a page names the commits that it measured', () => {
  deepEqual(
    commitsIn('- Driver startgrid 58eae5a, ceiling 102,151 req/s.\n- Startgrid 58eae5a, lockfile 406dee71'),
    ['58eae5a'],
  )
  deepEqual(commitsIn('The race at commit 85f60b9; image sha256:5a9f1510d2ca'), ['85f60b9'])
})

test('figures that are older than the apps are named, with the command that measures again', () => {
  deepEqual(
    findStaleFigures(page('Startgrid 58eae5a'), () => ['apps/koa', 'nginx/conf']),
    [
      'docs/results/README.md has figures of 58eae5a. Since then apps/koa and 1 more changed. Measure again: pnpm bench --docs',
    ],
  )
})

test('what only one page measures makes no other page old', () => {
  const own = ['nginx/conf/studies/balanced*']
  const cluster = {
    page: 'docs/studies/cluster.md',
    text: 'Startgrid 58eae5a',
    command: 'pnpm bench study',
    own,
  }
  const found = findStaleFigures([...page('Startgrid 58eae5a'), cluster], (_, paths) => paths)
  deepEqual(
    found.map((sentence) => sentence.split(' ')[0]),
    ['docs/studies/cluster.md'],
  )
})

test('nothing is said where nothing changed, and where git does not know the commit', () => {
  deepEqual(
    findStaleFigures(page('Startgrid 58eae5a'), () => []),
    [],
  )
  deepEqual(
    findStaleFigures(page('Startgrid 58eae5a'), () => undefined),
    [],
  )
})

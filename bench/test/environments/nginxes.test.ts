import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '@startgrid/cli/progress.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import { assignNginxes, equip, findNginxes } from '../../src/environments/nginxes.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { analyseStudy } from '../../src/judge/study/analysis.ts'
import type { Study, System } from '../../src/model/experiment.ts'
import { formatMarkdownPart } from '../../src/report/markdown.ts'
import { documentOfStudy } from '../../src/report/study/document.ts'
import { njsVsNode } from '../../studies/njs-vs-node/study.ts'
import { measureOnPaper, PAPER } from '../fixtures/study-laboratory.ts'

function nginx(version: string, kind: Nginx['kind'], engine: 'njs' | 'qjs' | undefined): Nginx {
  const binary = { type: 'image', image: 'none' } as const
  const njs = engine && { version: '1.0.2', engine, module: undefined }
  return {
    kind,
    version,
    njs,
    keepaliveMinTimeout: true,
    tls: { http2: 'directive' },
    binary,
    describe: () => version,
  }
}

const OLD = nginx('1.22.1', 'path', 'njs')
const NEW = nginx('1.30.2', 'docker', 'qjs')

const njs = (engine: 'njs' | 'qjs'): System => ({
  title: engine,
  app: { package: 'apps/njs', role: 'hello', env: { NJS_ENGINE: engine } },
})

const STUDY: Study = {
  ...PAPER,
  systems: {
    fast: njs('qjs'),
    slow: njs('njs'),
    wide: { title: 'app', app: { package: 'apps/node', role: 'hello' } },
  },
}

function assigned(usual: Nginx | undefined, quickjs: Nginx | undefined) {
  const { cells } = measureOnPaper({ fast: [2, 2], slow: [1, 1], wide: [1, 1] }, STUDY)
  assignNginxes(STUDY, cells, { usual, quickjs })
  return cells.map(({ nginx: own, skipped }) => [own?.version, skipped])
}

const nginxes = await findNginxes(njsVsNode, planCells(njsVsNode), {
  ...{ progress: { ...createProgress(), say() {} }, warn() {} },
  ...{ signal: new AbortController().signal, download: false },
})
const skip = nginxes.quickjs === undefined && 'no NGINX here has QuickJS'

test('QuickJS runs in another NGINX where the usual one has only the old engine', () => {
  deepEqual(assigned(OLD, NEW), [
    ['1.30.2', null],
    ['1.22.1', null],
    [undefined, null],
  ])
  const nginxes = { usual: OLD, quickjs: NEW }
  equal(equip(njs('qjs'), nginxes).app?.env?.STARTGRID_NGINX, 'docker')
  equal(equip(njs('njs'), nginxes).app?.env?.STARTGRID_NGINX, undefined)
})

test('one NGINX with both engines is used for both, and nothing is changed', () => {
  const system = njs('qjs')
  equal(equip(system, { usual: NEW, quickjs: NEW }), system)
  deepEqual(assigned(NEW, NEW)[0], ['1.30.2', null])
})

test('where nothing has QuickJS, or njs, or there is no NGINX, systems are skipped with the reason', () => {
  const [qjs] = assigned(OLD, undefined)
  match(String(qjs?.[1]), /^njs has no QuickJS here/)
  const [, without] = assigned(nginx('1.22.1', 'path', undefined), undefined)
  equal(without?.[1], 'NGINX has no njs module')
  deepEqual(assigned(undefined, undefined), [
    [undefined, 'there is no NGINX'],
    [undefined, 'there is no NGINX'],
    [undefined, null],
  ])
})

test('a claim about systems in two versions of NGINX is undecided, and reports name them', () => {
  const result = measureOnPaper({ fast: [40_000, 41_000], slow: [20_000, 20_100], wide: [1, 1] }, STUDY)
  assignNginxes(STUDY, result.cells, { usual: OLD, quickjs: NEW })
  result.nginx = { kind: 'path', version: '1.22.1', njs: null }
  result.analysis = analyseStudy(STUDY, result)
  const [claim] = result.analysis.claims
  equal(claim?.verdict, 'undecided here')
  equal(claim?.undecided, 'its systems ran in NGINX 1.30.2 and 1.22.1, which may be all the difference')
  const block = formatMarkdownPart(documentOfStudy(STUDY, result))
  match(block, /^- qjs ran in NGINX 1\.30\.2 \(docker\) with njs 1\.0\.2\.$/m)
  match(block, /^- being slow: between NGINX 1\.30\.2 and 1\.22\.1, so that a part may be theirs\.$/m)
  const same = measureOnPaper({ fast: [40_000, 41_000], slow: [20_000, 20_100], wide: [1, 1] }, STUDY)
  assignNginxes(STUDY, same.cells, { usual: NEW, quickjs: NEW })
  equal(analyseStudy(STUDY, same).claims[0]?.verdict, 'holds')
})

test('njs responds on QuickJS, in the NGINX that was found for it', { skip }, async () => {
  const system = njsVsNode.systems['hello-qjs']
  if (system === undefined) throw new Error('There is no system hello-qjs.')
  const running = await startSystem(equip(system, nginxes), { nginx: undefined })
  try {
    if (!('port' in running.target)) throw new Error('It listens on a socket.')
    const { host, port } = running.target
    equal(await (await fetch(`http://${host}:${port}/json`)).text(), '{"hello":"world"}')
  } finally {
    await running.stop()
  }
})

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findUnfinishedStudies, type ResumeOptions } from '../../src/cli/commands/study.ts'
import { fitToMachine, planCells } from '../../src/experiment/cells.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { newHeat } from '../../src/measure/heat.ts'
import type { Study } from '../../src/model/experiment.ts'
import type { StudyResult } from '../../src/model/result.ts'
import { ResultError, recordOf, writeResult } from '../../src/model/result-file.ts'
import { clusterStudy } from '../../studies/cluster/study.ts'
import { expressToFastify } from '../../studies/express-to-fastify/study.ts'

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-resume-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

const NOTHING_SAID: Omit<ResumeOptions, 'resume'> = {
  studies: [],
  seed: undefined,
  profile: undefined,
  heats: undefined,
  asPublished: false,
}

let stored = 0

/** A run of two studies, the first of which is finished. */
function store(change: (result: StudyResult) => void = () => {}): string {
  const directory = join(DIRECTORY, String(++stored))
  for (const study of [clusterStudy, expressToFastify])
    writeResult(join(directory, `${study.name}.json`), of(study, change))
  return directory
}

function of(study: Study, change: (result: StudyResult) => void): StudyResult {
  const options = { profile: 'quick', asPublished: false, heats: undefined, seed: 9 } as const
  const result = createStudyResult(study, options, 'pnpm bench study')
  if (study === clusterStudy) result.finishedAt = result.startedAt
  change(result)
  return result
}

function refusal(resume: string, options: Partial<ResumeOptions> = {}): string {
  try {
    findUnfinishedStudies({ ...NOTHING_SAID, ...options, resume })
  } catch (error) {
    ok(error instanceof ResultError, String(error))
    return error.message.replaceAll(resume, 'DIR')
  }
  return 'nothing'
}

test('a run is found with all its studies, by its directory or a file, and finished ones stay as they are', () => {
  const directory = store((result) => fitToMachine(result.cells, 1))
  for (const resume of [directory, join(directory, 'cluster.json')]) {
    const { planned, directory: found } = findUnfinishedStudies({ ...NOTHING_SAID, resume })
    equal(found, directory)
    deepEqual(
      planned.map(({ study, result }) => [study.name, result.finishedAt !== null]),
      [
        ['cluster', true],
        ['express-to-fastify', false],
      ],
    )
    const [cluster, express] = planned.map(({ result }) => result)
    ok(cluster?.cells.some(({ cores }) => cores.given < cores.wanted))
    deepEqual(express?.cells, planCells(expressToFastify), 'fitted to the machine anew, not twice')
    deepEqual(express?.warnings, [], 'nothing was measured, so there was no pause')
  }
})

test('the pause is told', () => {
  const directory = store(({ heats, study }) => {
    const startedAt = new Date(Date.now() - 100_000).toISOString()
    const heat = { ...newHeat({ race: 'status', heat: 1 }), startedAt, seconds: 40 }
    if (study === 'express-to-fastify') heats.push(heat)
  })
  const { planned } = findUnfinishedStudies({ ...NOTHING_SAID, resume: directory })
  const [warning] = planned[1]?.result.warnings ?? []
  ok(
    warning?.kind === 'resumed' && warning.pauseSeconds >= 60 && warning.pauseSeconds < 90,
    JSON.stringify(warning),
  )
})

test('the same words as at the beginning may be said again', () => {
  const said = { studies: [expressToFastify], seed: 9, profile: 'quick', heats: 3 } as const
  equal(refusal(store(), said), 'nothing')
})

test('what cannot be gone on with is refused in a sentence', () => {
  const cases: [directory: string, said: Partial<ResumeOptions>, sentence: string | RegExp][] = [
    [
      store((result) => {
        result.finishedAt = result.startedAt
      }),
      {},
      'DIR is complete: there is nothing to resume.',
    ],
    [store(), { seed: 8 }, 'DIR cannot be resumed, because its seed is 9: start a new run.'],
    [store(), { profile: 'full' }, 'DIR cannot be resumed, because it is a quick run: start a new run.'],
    [store(), { heats: 5 }, 'DIR cannot be resumed, because it has 3 heats: start a new run.'],
    [store(), { asPublished: true }, /because it was begun without --as-published: start a new run\.$/],
    [store(), { studies: [{ ...clusterStudy, name: 'other' }] }, /because other is not part of it: /],
    [
      store(({ versions }) => {
        versions.lockfile = '0'
      }),
      {},
      'DIR cannot be resumed, because the lockfile has changed: start a new run.',
    ],
    [
      store(({ machine }) => {
        machine.cpu = 'Other 5'
      }),
      {},
      /^DIR cannot be resumed, because it was begun on another machine \(Other 5, /,
    ],
    [DIRECTORY, {}, 'DIR has no result of a study: give --resume the directory of a run.'],
    [join(DIRECTORY, 'none'), {}, 'There is no DIR: give --resume the directory of a run.'],
  ]
  for (const [directory, said, sentence] of cases) {
    const message = refusal(directory, said)
    if (typeof sentence === 'string') equal(message, sentence)
    else match(message, sentence)
  }
})

test('a record without its heats, as docs/studies has them, is no run to go on with', () => {
  const directory = join(DIRECTORY, 'records')
  writeResult(
    join(directory, 'cluster.json'),
    recordOf(
      of(clusterStudy, (result) => {
        result.analysis = { cells: [], openRates: [], claims: [], steps: [], scaling: [] }
      }),
    ),
  )
  match(refusal(directory), /cluster\.json has figures only, without what was measured/)
})

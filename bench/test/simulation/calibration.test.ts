import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { calibrate } from '../../simulation/calibration.ts'
import type { Model } from '../../simulation/model.ts'
import { createSession } from '../../simulation/session.ts'
import { traceRoles } from '../../simulation/traces.ts'

const MODEL: Model = {
  provenance: ['made up'],
  heatSd: 0.06,
  heatCorrelation: 0.6,
  topologySd: 0.02,
  driftSd: 0.04,
  launchSd: 0.03,
  launchSpread: 0.3,
  sharedPart: 0.6,
  sliceSd: 0.02,
  outliers: { part: 0.02, rateLoss: [0.4, 0.6], cpuGain: [0.05, 0.2], detected: 0.7, over: 0.5 },
  neighbours: { perSecond: 0.1, seconds: 1, share: 0.2, cpuGain: 0.4 },
}

/** Many heats of one role, as no run has them: what is left is error of the method, not of chance. */
function measure(model: Model, heats: number): ReturnType<typeof calibrate> {
  const options = { model, apps: 7, slices: 6, sliceMs: 200, alike: false, random: createRandom(8) }
  const session = createSession(options)
  const own = Array.from({ length: heats }, () => session.nextHeat())
  return calibrate(traceRoles({ cells: session.cells, heats: own }), MODEL)
}

const found = measure(MODEL, 400)

for (const [name, tolerance] of [
  ['heatSd', 0.15],
  ['heatCorrelation', 0.25],
  ['topologySd', 0.15],
  ['driftSd', 0.3],
  ['launchSd', 0.15],
  ['launchSpread', 0.5],
  ['sharedPart', 0.25],
  ['sliceSd', 0.3],
] as const) {
  test(`${name} is found again in simulated heats`, () => {
    const ratio = found[name] / MODEL[name]
    assert.ok(Math.abs(ratio - 1) < tolerance, `${found[name]} for ${MODEL[name]}`)
  })
}

test('outlying launches and neighbours are found again, roughly', () => {
  const { outliers, neighbours } = found
  assert.ok(outliers.part > 0.01 && outliers.part < 0.03, `${outliers.part}`)
  assert.ok(outliers.detected > 0.5 && outliers.detected < 0.9, `${outliers.detected}`)
  assert.ok(outliers.over > 0.2 && outliers.over < 0.8, `${outliers.over}`)
  assert.ok(outliers.rateLoss[0] > 0.2 && outliers.rateLoss[1] < 0.75, `${outliers.rateLoss}`)
  assert.ok(neighbours.perSecond > 0.04 && neighbours.perSecond < 0.25, `${neighbours.perSecond}`)
  assert.ok(neighbours.share > 0.1 && neighbours.share < 0.4, `${neighbours.share}`)
})

test('a machine of our own has neither', () => {
  const quiet = {
    ...MODEL,
    outliers: { ...MODEL.outliers, part: 0 },
    neighbours: { ...MODEL.neighbours, perSecond: 1e-9 },
  }
  const { outliers, neighbours } = measure(quiet, 100)
  assert.equal(outliers.part, 0)
  assert.equal(neighbours.perSecond, 0)
})

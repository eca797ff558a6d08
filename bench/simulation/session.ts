import { type Random, shuffle } from '@startgrid/stats/random.ts'
import type { Metric } from '../src/model/figures.ts'
import type { CellSpec, Heat, Slice } from '../src/model/result.ts'
import type { Model } from './model.ts'
import { createNoise, type Noise } from './noise.ts'

/** Heats as a real machine would have given them, of cells whose true cost is known. */

/** A slice is disturbed where somebody else had more than this part of the core: the limit of the gate `ours`. */
const LIMIT = 0.05
const PAUSE_SECONDS = 0.025
const CORE_USE = 0.98
const SECONDS_PER_REQUEST = 20e-6

export interface Session {
  cells: CellSpec[]
  /** The true logarithm of a cell's figure, as a part of `scale`. */
  truth(cell: string, metric: Metric): number
  /** What a cell of average cost does on a machine of average speed: answers per second, or seconds per request. */
  scale(metric: Metric): number
  /** The next heat, with all its slices. */
  nextHeat(): Heat
}

export interface SessionOptions {
  model: Model
  apps: number
  slices: number
  sliceMs: number
  /** All apps cost the same: every difference found is a false one. */
  alike: boolean
  random: Random
}

/** One cell, as the simulation knows it. */
interface Subject {
  spec: CellSpec
  logCost: number
  launchSd: number
}

/** What is going on while a heat is run. */
interface Weather {
  /** Logarithm of the cost at a time, and extra behind NGINX. */
  heat: number
  proxied: number
  drift(at: number): number
  /** The part of the core that others have between two times. */
  stolen(from: number, to: number): number
}

/** What happened to one launch. */
interface LaunchState {
  shared: number
  own: Map<string, number>
  outlier: { lossOfRate: number; gainOfCpu: number; detected: boolean; over: boolean } | null
}

/** Apps race directly and behind NGINX; the first has an A/A twin. */
export function createSession(options: SessionOptions): Session {
  const { model, random } = options
  const noise = createNoise(random)
  const subjects = createSubjects(options, noise)
  const truths = new Map(subjects.map(({ spec, logCost }) => [spec.id, logCost]))
  let heatEffect = model.heatSd * noise.normal()
  let heats = 0
  return {
    cells: subjects.map(({ spec }) => spec),
    truth: (cell, metric) => (metric === 'rate' ? -1 : 1) * (truths.get(cell) ?? Number.NaN),
    scale: (metric) => (metric === 'rate' ? CORE_USE / SECONDS_PER_REQUEST : SECONDS_PER_REQUEST),
    nextHeat() {
      heats += 1
      const { heatCorrelation: again, heatSd } = model
      heatEffect = again * heatEffect + Math.sqrt(1 - again * again) * heatSd * noise.normal()
      return simulateHeat({ ...options, noise, subjects, heat: heats, heatEffect })
    },
  }
}

function createSubjects({ model, apps, alike }: SessionOptions, noise: Noise): Subject[] {
  const costs = Array.from({ length: apps }, () => (alike ? 0 : 0.3 * noise.normal()))
  const proxyCost = alike ? 0 : 0.5
  return [...costs.keys(), 0].flatMap((index, place) => {
    const twin = place === apps
    const app = `${index === 0 ? 'node' : `app${index}`}/hello${twin ? '#2' : ''}`
    return (['direct', 'nginx'] as const).map((topology) => ({
      spec: createSpec(app, topology, twin),
      logCost: (costs[index] ?? 0) + (topology === 'nginx' ? proxyCost : 0),
      launchSd: model.launchSd * Math.exp(model.launchSpread * noise.normal()),
    }))
  })
}

function createSpec(app: string, topology: 'direct' | 'nginx', twin: boolean): CellSpec {
  return {
    id: `${app} ${topology}`,
    app,
    framework: app.replace('/hello', ''),
    role: 'hello',
    topology,
    twinOf: twin ? 'node/hello' : null,
    engine: null,
    workload: 'GET /',
    connections: 64,
    warmupMs: 1250,
    serverBound: true,
    skipped: null,
  }
}

interface Course extends SessionOptions {
  noise: Noise
  subjects: Subject[]
  heat: number
  heatEffect: number
}

function simulateHeat(course: Course): Heat {
  const { subjects, slices, sliceMs, random, heat } = course
  const step = sliceMs / 1000 + PAUSE_SECONDS
  const weather = createWeather(course, subjects.length * slices * step)
  const launches = new Map(subjects.map(({ spec }) => [spec.app, startLaunch(course)]))
  let at = 0
  const measure = (subject: Subject, repeat: boolean): Slice => {
    const slice = simulateSlice(course, {
      subject,
      weather,
      launch: launches.get(subject.spec.app),
      at,
      repeat,
    })
    at += step
    return slice
  }
  const passes = Array.from({ length: slices }, () => shuffle(subjects, random)).flat()
  const taken = passes.map((subject) => ({ subject, slice: measure(subject, false) }))
  const repeats = taken.filter(({ slice }) => slice.disturbed).map(({ subject }) => measure(subject, true))
  return {
    role: 'hello',
    heat,
    startedAt: '2026-11-21T00:00:00.000Z',
    seconds: at,
    launches: [],
    slices: [...taken.map(({ slice }) => slice), ...repeats],
    failures: [],
  }
}

function createWeather({ model, noise, heatEffect }: Course, seconds: number): Weather {
  const { perSecond, seconds: length, share } = model.neighbours
  const visits: { from: number; to: number; part: number }[] = []
  // Repeats come after the end: half as much again is enough.
  for (let at = noise.exponential() / perSecond; at < 1.5 * seconds; at += noise.exponential() / perSecond) {
    visits.push({
      from: at,
      to: at + length * noise.exponential(),
      part: Math.min(0.5, share * noise.exponential()),
    })
  }
  const steps = 16
  const walk = [0]
  for (let index = 1; index < 2 * steps; index++) {
    walk.push((walk[index - 1] ?? 0) + (model.driftSd / Math.sqrt(steps)) * noise.normal())
  }
  return {
    heat: heatEffect,
    proxied: model.topologySd * noise.normal(),
    drift: (at) => walk[Math.min(walk.length - 1, Math.floor((at / seconds) * steps))] ?? 0,
    stolen: (from, to) =>
      visits.reduce(
        (sum, visit) =>
          sum + (visit.part * Math.max(0, Math.min(to, visit.to) - Math.max(from, visit.from))) / (to - from),
        0,
      ),
  }
}

function startLaunch({ model, noise }: Course): LaunchState {
  const { part, rateLoss, cpuGain, detected, over } = model.outliers
  const outlier = noise.chance(part)
    ? {
        lossOfRate: noise.uniform(...rateLoss),
        gainOfCpu: noise.uniform(...cpuGain),
        detected: noise.chance(detected),
        over: noise.chance(over),
      }
    : null
  return { shared: noise.normal(), own: new Map(), outlier }
}

interface Moment {
  subject: Subject
  weather: Weather
  launch: LaunchState | undefined
  at: number
  repeat: boolean
}

function simulateSlice({ model, noise, sliceMs }: Course, moment: Moment): Slice {
  const { subject, weather, launch, at, repeat } = moment
  const seconds = sliceMs / 1000
  const { spec } = subject
  const outlier =
    launch?.outlier && !(repeat && launch.outlier.over && launch.outlier.detected) ? launch.outlier : null
  const stolen = weather.stolen(at, at + seconds)
  const wait = stolen + (outlier?.detected ? outlier.lossOfRate : 0)
  const logCost =
    subject.logCost +
    weather.heat +
    weather.drift(at) +
    (spec.topology === 'nginx' ? weather.proxied : 0) +
    launchError(model, subject, launch, noise) +
    model.sliceSd * noise.normal() +
    Math.log1p((outlier?.gainOfCpu ?? 0) + model.neighbours.cpuGain * stolen * noise.uniform(0, 1))
  const cost = SECONDS_PER_REQUEST * Math.exp(logCost)
  // The core is lost to the server for as long as others have it, and for as long as the generator waits.
  const used = seconds * CORE_USE * (1 - Math.min(0.95, stolen)) * (1 - (outlier?.lossOfRate ?? 0))
  const requests = Math.max(1, Math.round(used / cost))
  return {
    cell: spec.id,
    phase: 'measure',
    at,
    seconds,
    requests,
    checked: 0,
    errors: {},
    meanLatency: (64 * seconds) / requests,
    cpuSeconds: { app: used, proxy: 0, generator: null },
    disturbance: { serverWait: wait, generatorWait: wait, serverForeign: null, generatorForeign: null },
    disturbed: wait > LIMIT,
    repeat,
  }
}

/** Of one launch, the same in all its slices of one cell. */
function launchError(
  model: Model,
  { spec, launchSd }: Subject,
  launch: LaunchState | undefined,
  noise: Noise,
): number {
  if (launch === undefined) return 0
  let own = launch.own.get(spec.id)
  if (own === undefined) {
    own = noise.normal()
    launch.own.set(spec.id, own)
  }
  return launchSd * (Math.sqrt(model.sharedPart) * launch.shared + Math.sqrt(1 - model.sharedPart) * own)
}

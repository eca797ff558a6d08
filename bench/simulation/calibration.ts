import { trigamma } from '@startgrid/stats/gamma.ts'
import { fitPrior } from '@startgrid/stats/moderation.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { commonSlope } from '@startgrid/stats/trend.ts'
import type { Model } from './model.ts'
import { lossOf, type Trace, type TracedSlice } from './traces.ts'

/** Estimates the model from real heats; what they cannot tell stays as it was. */

/** A launch this many standard deviations from the others is an outlier. */
const OUTLYING = 5

/** Half the distance between the quartiles of a normal distribution, in standard deviations. */
const QUARTILE = 0.67449

export function calibrate(traces: readonly Trace[], before: Model): Model {
  const launchVariance = fitLaunches(traces)
  const drift = driftSd(traces)
  // Of a random walk that ends with variance 1, a sixth is left between its values, and its mean has a third.
  const sliceSd = root(sliceSdOf(traces) ** 2 - drift ** 2 / 6)
  const perLaunch = mean(traces.flatMap(({ slices }) => launchSizes(slices)))
  const launchSd = root(launchVariance.variance - sliceSd ** 2 / perLaunch)
  const heats = heatEffects(traces)
  const rows = mean(traces.map(({ fields }) => fields[0]?.names.length ?? 1))
  return {
    provenance: before.provenance,
    heatSd: root(sampleVariance(heats) - drift ** 2 / 3 - launchVariance.variance / rows),
    heatCorrelation: Math.max(0, lagCorrelation(heats)),
    topologySd: topologySd(traces, launchVariance.variance),
    driftSd: drift,
    launchSd,
    launchSpread: Number.isFinite(launchVariance.df) ? Math.sqrt(trigamma(launchVariance.df / 2)) / 2 : 0,
    sharedPart: sharedPart(traces, launchVariance.variance, launchSd),
    sliceSd,
    outliers: outliersOf(traces, Math.sqrt(launchVariance.variance), before.outliers),
    neighbours: neighboursOf(traces, before.neighbours),
  }
}

/** Variance of a typical cell's launch means, and how much cells differ in it: the prior that the analysis fits, over all heats. */
function fitLaunches(traces: readonly Trace[]): { variance: number; df: number } {
  return fitPrior(
    traces.flatMap(({ fields }) => fields.flatMap(({ fit }) => fit.rows.filter((row) => row !== null))),
  )
}

function launchSizes(slices: readonly TracedSlice[]): number[] {
  const counted = slices.filter(({ slice }) => !slice.disturbed)
  return [...Map.groupBy(counted, ({ heat, slice }) => `${slice.cell} ${heat}`).values()].map(
    ({ length }) => length,
  )
}

/** By the quartiles, which disturbed slices and outliers leave alone. */
function sliceSdOf(traces: readonly Trace[]): number {
  const groups = traces.flatMap(({ slices }) => [
    ...Map.groupBy(
      slices.filter(({ slice }) => !slice.disturbed),
      ({ heat, slice }) => `${slice.cell} ${heat}`,
    ).values(),
  ])
  const scaled = groups
    .filter(({ length }) => length > 1)
    .flatMap((group) =>
      group.map(({ residual }) => Math.abs(residual ?? 0) * Math.sqrt(group.length / (group.length - 1))),
    )
  return quantile(scaled, 0.5) / QUARTILE
}

/** Effects of heats on direct cells, in the order in which they ran, each role against its own mean. */
function heatEffects(traces: readonly Trace[]): number[] {
  const effects = traces.flatMap(({ heats, fields }) => {
    const columns = fields[0]?.fit.columns ?? []
    const level = mean(columns)
    return columns.map((effect, index) => ({
      startedAt: heats[index]?.startedAt ?? '',
      effect: effect - level,
    }))
  })
  return effects.sort((a, b) => a.startedAt.localeCompare(b.startedAt)).map(({ effect }) => effect)
}

function lagCorrelation(values: readonly number[]): number {
  const products = values.slice(1).map((value, index) => value * (values[index] ?? 0))
  return mean(products) / mean(values.map((value) => value * value))
}

/** Spread of the difference of heat effects behind NGINX and direct, less what launches explain. */
function topologySd(traces: readonly Trace[], launchVariance: number): number {
  const variances = traces.flatMap(({ fields }) => {
    const [direct, proxied] = fields.map(({ fit }) => fit.columns)
    if (!direct || !proxied || direct.length !== proxied.length || direct.length < 2) return []
    const rows = fields[0]?.names.length ?? 1
    return sampleVariance(direct.map((effect, h) => (proxied[h] ?? 0) - effect)) - (2 * launchVariance) / rows
  })
  return variances.length === 0 ? 0 : root(mean(variances))
}

/** Slope over a heat. That of a random walk has 6/5 of the variance of its end. */
function driftSd(traces: readonly Trace[]): number {
  const excess = traces.flatMap(({ slices }) =>
    [...Map.groupBy(slices, ({ heat }) => heat).values()].flatMap((group) => {
      const points = group
        .filter(({ slice }) => !slice.disturbed && !slice.repeat)
        .map(({ slice, residual }) => ({ x: slice.at, y: residual ?? 0 }))
      const slope = commonSlope([points])
      if (slope === null) return []
      const span = Math.max(...points.map(({ x }) => x)) - Math.min(...points.map(({ x }) => x))
      return span ** 2 * (slope.estimate ** 2 - slope.standardError ** 2)
    }),
  )
  return excess.length === 0 ? 0 : root(mean(excess) / 1.2)
}

/** Covariance of the residuals of one launch, direct and behind NGINX, as a part of the launch's variance. */
function sharedPart(traces: readonly Trace[], variance: number, launchSd: number): number {
  const most = 3 * Math.sqrt(variance)
  const clip = (value: number) => Math.max(-most, Math.min(most, value))
  const products = traces.flatMap(({ fields: [direct, proxied] }) => {
    if (direct === undefined || proxied === undefined || direct.fit.pooled.df === 0) return []
    const kept = direct.fit.pooled.df / direct.fit.residuals.flat().length
    return direct.names.flatMap((name, row) => {
      const others = proxied.fit.residuals[proxied.names.indexOf(name)] ?? []
      return (direct.fit.residuals[row] ?? []).flatMap((one, h) => {
        const other = others[h] ?? null
        return one === null || other === null ? [] : (clip(one) * clip(other)) / kept
      })
    })
  })
  return products.length === 0 || launchSd === 0
    ? 0
    : Math.max(0, Math.min(1, mean(products) / launchSd ** 2))
}

/** Launches that are off although no slice that counts was disturbed, and those whose slices all were. */
function outliersOf(traces: readonly Trace[], sd: number, before: Model['outliers']): Model['outliers'] {
  const launches = traces.flatMap(({ fields, rates, slices }) =>
    fields.flatMap((field, index) =>
      field.names.flatMap(
        (_, row) =>
          field.values[row]?.map((_, heat) => ({
            cpu: field.fit.residuals[row]?.[heat] ?? null,
            rate: rates[index]?.fit.residuals[row]?.[heat] ?? null,
            slices: slices.filter(
              (one) => one.heat === heat && one.slice.cell === field.records[row]?.cell.id,
            ),
          })) ?? [],
      ),
    ),
  )
  const first = ({ slices }: (typeof launches)[number]) => slices.filter(({ slice }) => !slice.repeat)
  const detected = launches.filter(
    (one) => first(one).length > 0 && first(one).every(({ slice }) => slice.disturbed),
  )
  const missed = launches.filter((one) => !detected.includes(one) && Math.abs(one.rate ?? 0) > OUTLYING * sd)
  const found = detected.length + missed.length
  if (found === 0) return { ...before, part: 0 }
  const over = detected.filter(({ slices }) => slices.some(({ slice }) => slice.repeat && !slice.disturbed))
  const losses = missed.map(({ rate }) => -Math.expm1(rate ?? 0))
  const gains = missed.map(({ cpu }) => Math.expm1(cpu ?? 0))
  return {
    part: found / launches.length,
    rateLoss: rangeOf(losses) ?? before.rateLoss,
    cpuGain: rangeOf(gains) ?? before.cpuGain,
    detected: detected.length / found,
    over: detected.length === 0 ? before.over : over.length / detected.length,
  }
}

/** Most of the positive values; null where there are too few to tell. */
function rangeOf(values: readonly number[]): [number, number] | null {
  const positive = values.filter((value) => value > 0)
  return positive.length < 5 ? null : [quantile(positive, 0.1), quantile(positive, 0.9)]
}

/** Runs of disturbed slices. */
function neighboursOf(traces: readonly Trace[], before: Model['neighbours']): Model['neighbours'] {
  const visits: TracedSlice[][] = []
  let seconds = 0
  for (const { slices } of traces) {
    for (const group of Map.groupBy(slices, ({ heat }) => heat).values()) {
      const ordered = group.toSorted((a, b) => a.slice.at - b.slice.at)
      seconds += ordered.reduce((sum, { slice }) => sum + slice.seconds, 0)
      visits.push(...runsOf(ordered))
    }
  }
  if (visits.length === 0) return { ...before, perSecond: 0 }
  const disturbed = visits.flat()
  const gains = disturbed.flatMap(({ slice, residual }) =>
    residual === null ? [] : Math.max(0, residual) / lossOf(slice),
  )
  return {
    perSecond: visits.length / seconds,
    seconds: mean(visits.map((visit) => visit.reduce((sum, { slice }) => sum + slice.seconds, 0))),
    share: mean(disturbed.map(({ slice }) => lossOf(slice))),
    // It is drawn from 0 to this.
    cpuGain: gains.length === 0 ? before.cpuGain : 2 * quantile(gains, 0.5),
  }
}

function runsOf(slices: readonly TracedSlice[]): TracedSlice[][] {
  const runs: TracedSlice[][] = []
  for (const [index, one] of slices.entries()) {
    if (!one.slice.disturbed) continue
    if (slices[index - 1]?.slice.disturbed) runs.at(-1)?.push(one)
    else runs.push([one])
  }
  return runs
}

/** What is left when other variances are taken off may be less than nothing, by chance. */
function root(variance: number): number {
  return Math.sqrt(Math.max(0, variance))
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(part * (sorted.length - 1))] ?? 0
}

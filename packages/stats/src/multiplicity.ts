/** Multiple comparisons: limits the probability of a single false difference to the level. */

/**
 * Holm's step-down adjustment (Holm 1979, Scandinavian Journal of Statistics 6:65): valid however the tests depend on each other.
 * @returns adjusted p-values in the order given: those below 0.05 are different at a family-wise level of 0.05
 */
export function holm(pValues: readonly number[]): number[] {
  const adjusted = pValues.map(() => 1)
  let highest = 0
  for (const [step, index] of [...pValues.keys()]
    .sort((a, b) => (pValues[a] ?? 1) - (pValues[b] ?? 1))
    .entries()) {
    highest = Math.max(highest, Math.min(1, (pValues.length - step) * (pValues[index] ?? 1)))
    adjusted[index] = highest
  }
  return adjusted
}

/**
 * The places that each of `names` may have: from 1 + how many are better for certain, to how many there are less those that are worse
 * for certain.
 * @param better whether `a` is better than `b` for certain
 */
export function rankRanges<Name>(
  names: readonly Name[],
  better: (a: Name, b: Name) => boolean,
): { name: Name; from: number; to: number }[] {
  return names.map((name) => ({
    name,
    from: 1 + names.filter((other) => better(other, name)).length,
    to: names.length - names.filter((other) => better(name, other)).length,
  }))
}

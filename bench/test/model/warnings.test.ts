import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateResult } from '../../src/model/result-file.ts'
import { describeWarning, WARNING_KINDS, type Warning } from '../../src/model/warnings.ts'
import { golden } from '../fixtures/golden.ts'

/** One of each kind, with what its sentence must tell. */
const EXAMPLES: readonly [Warning, ...RegExp[]][] = [
  [{ kind: 'not-pinned' }, /taskset/],
  [{ kind: 'one-core' }, /share it/],
  [{ kind: 'smt-shared', server: 2, generator: 3 }, /CPUs 2 and 3/],
  [{ kind: 'unlike-cores', server: 1, generator: 5, slower: 0.75 }, /CPU 5.*25 % slower.*CPU 1/],
  [{ kind: 'busy', share: 0.324 }, /32 %/],
  [{ kind: 'load-average', load: 1.234, cores: 2 }, /1\.23 on 2 cores/],
  [{ kind: 'governor', governor: 'powersave' }, /is powersave/, /cpupower/],
  [{ kind: 'boost' }, /temperature/],
  [{ kind: 'virtual-machine', name: 'QEMU' }, /\(QEMU\)/],
  [{ kind: 'no-nginx', cells: 24, help: 'Install it.' }, /24 cells .* are skipped\. Install it\.$/],
  [{ kind: 'no-njs', cells: 1, nginx: 'nginx 1.30.3' }, /1 cell .* is skipped/, /nginx 1\.30\.3/],
  [{ kind: 'steal', share: 0.05 }, /5\.0 %/],
  [
    { kind: 'heats-dropped', from: 3, maxTimeMs: 300_000 },
    /after 5\.00 minutes/,
    /number 3 on/,
    /--max-time/,
  ],
  [{ kind: 'not-saved', reason: 'ENOSPC' }, /ENOSPC/],
  [
    { kind: 'shared-core', system: 'after', processes: 4, cores: 1 },
    /^4 processes of after share 1 core: .* --cores/,
  ],
  [
    { kind: 'heats-dropped', from: 4, maxTimeMs: 60_000, enoughMs: 100_000 },
    /after 1\.00 minutes.* --max-time 100s would be enough/,
  ],
  [{ kind: 'external-server', systems: 'a and b' }, /^Nobody accounts for a and b/, /network/],
  [{ kind: 'one-launch', systems: 'a' }, /^Of a, which ran before/, /one launch/, /in no interval/],
  [{ kind: 'disturbance-unknown' }, /^Costs are known/],
  [{ kind: 'no-accounting' }, /costs are missing/],
  [{ kind: 'no-foreign-accounting' }, /had to wait/],
  [{ kind: 'excluded', slices: 7, of: 378 }, /7 of 378 slices/],
  [{ kind: 'crowded', cells: 3 }, /3 cells/],
  [{ kind: 'disturbed-loads', loads: 4, of: 60, crowded: 0 }, /4 of 60 open loops\. These do not count\.$/],
  [{ kind: 'disturbed-loads', loads: 40, of: 60, crowded: 2 }, /except in 2 cells/],
  [
    { kind: 'suspect', twin: 'node/hello#2 direct', metric: 'req/s', difference: -0.14, p: 0.00123 },
    /node\/hello#2 direct differs by 14 % in req\/s/,
    /p = 0\.001/,
  ],
  [{ kind: 'no-intervals', cells: 21 }, /^21 comparisons/],
]

for (const [warning, ...expected] of EXAMPLES) {
  test(`${warning.kind}: whole sentences with all figures`, () => {
    const text = describeWarning(warning)
    assert.match(text, /^[A-Z0-9][^\n]*\.$/)
    assert.doesNotMatch(text, /undefined|NaN|null|object/)
    for (const pattern of expected) assert.match(text, pattern)
  })
}

test('the enumeration is complete, and the schema knows each field of each', () => {
  const warnings = EXAMPLES.map(([warning]) => warning)
  assert.deepEqual(new Set(warnings.map(({ kind }) => kind)), new Set(WARNING_KINDS))
  assert.deepEqual(validateResult({ ...golden('race'), warnings }), [])
})

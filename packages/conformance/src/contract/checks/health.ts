import type { Check } from '../check.ts'
import { health as healthy, otherMethod } from '../expectation.ts'

const PATHS = ['/livez', '/readyz']

/** Lines about the health of an app. The 503 while draining needs a signal, so the tests of the apps check it. */
export const health: readonly Check[] = [
  {
    name: 'livez and readyz pass and are not stored',
    run: (probe) => probe.expectEach(PATHS, healthy()),
  },
  {
    name: 'livez and readyz whatever the client accepts',
    async run(probe) {
      for (const accept of ['text/html', 'application/json', 'image/*;q=0.1', '*/*;q=0']) {
        await probe.expectEach(
          PATHS.map((target) => ({ target, headers: [['accept', accept] as const] })),
          healthy(),
        )
      }
    },
  },
  {
    name: 'the refusal of another method on livez and readyz has no cache-control',
    run: (probe) =>
      probe.expectEach(
        PATHS.map((target) => ({ method: 'POST', target })),
        otherMethod(),
      ),
  },
]
